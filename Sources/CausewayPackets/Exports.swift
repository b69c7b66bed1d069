@_exported public import struct CausewayWire.ByteView
@_exported public import enum CausewayWire.WireError
