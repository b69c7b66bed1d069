// The client's requests, responses, forms and session settings are types of CausewayURLLoading. A source file that
// imports only this module and Foundation can name them, for example in an interceptor.
@_exported public import CausewayURLLoading
@_exported public import struct Causeway.NWPath
