// Causeway types that declarations in this module use. A source file that imports only this module can name them.
@_exported public import class Causeway.NWConnection
@_exported public import enum Causeway.NWEndpoint
@_exported public import enum Causeway.NWError
@_exported public import class Causeway.NWParameters
@_exported public import class Causeway.NWProtocolFramer
@_exported public import protocol Causeway.NWProtocolFramerImplementation
