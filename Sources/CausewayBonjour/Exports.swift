// Causeway types that declarations in this module use. A source file that imports only this module can name them.
@_exported public import enum Causeway.NWEndpoint
@_exported public import enum Causeway.NWError
@_exported public import struct Causeway.NWInterface
@_exported public import struct Causeway.NWTXTRecord
