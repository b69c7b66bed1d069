// Causeway types that declarations in this module use. A source file that imports only this module and Foundation can
// name them.
@_exported public import enum Causeway.CFAllocator
@_exported public import typealias Causeway.CFString
@_exported public import typealias Causeway.CFTypeRef
@_exported public import class Causeway.NWConnection
@_exported public import enum Causeway.NWEndpoint
@_exported public import class Causeway.NWParameters
