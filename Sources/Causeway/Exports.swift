@_exported public import struct CausewayRuntime.DatagramBatch
@_exported public import CausewayTypes
public import FoundationEssentials

// `POSIXError.Code` and `POSIXErrorCode` name one type. The first name is available without an import of the C library.
extension POSIXError.Code {
    /// The operation is not supported. Linux has one number for `ENOTSUP` and `EOPNOTSUPP`, and `POSIXError.Code` has a
    /// case only for `EOPNOTSUPP`.
    public static var ENOTSUP: POSIXError.Code { .EOPNOTSUPP }
}
