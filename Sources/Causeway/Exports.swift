@_exported public import struct CausewayRuntime.DatagramBatch
@_exported public import CausewayTypes
public import FoundationEssentials

// `POSIXError.Code` is another name of `POSIXErrorCode`. It is used here because it needs no import of the C library.
extension POSIXError.Code {
    /// The operation is not supported. Linux has one number for `ENOTSUP` and `EOPNOTSUPP`, and the enumeration has a case only for
    /// `EOPNOTSUPP`.
    public static var ENOTSUP: POSIXError.Code { .EOPNOTSUPP }
}
