@_exported public import struct CausewayRuntime.DatagramBatch
@_exported public import CausewayTypes
public import FoundationEssentials

// `POSIXErrorCode`, under the name that needs no C library in view.
extension POSIXError.Code {
    /// The operation is not supported. On Linux it is the same number as `EOPNOTSUPP`, which has the only case.
    public static var ENOTSUP: POSIXError.Code { .EOPNOTSUPP }
}
