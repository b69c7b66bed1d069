@_exported public import struct CausewayTypes.IPv4Address
@_exported public import struct CausewayTypes.IPv6Address
@_exported public import struct CausewayWire.ByteView
@_exported public import enum CausewayWire.WireError
