// Parameters, endpoints, services and errors of a server, and what sets its TLS options, are declared in Causeway.
@_exported public import Causeway
// A server uses no other types of Foundation.
@_exported public import struct FoundationEssentials.Data
@_exported public import class FoundationEssentials.JSONDecoder
