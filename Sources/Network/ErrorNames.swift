// Error codes that `POSIXErrorCode` declares only on Apple platforms. Example: `framer.markFailed(error: .posix(.EAUTH))`. Each code has
// the value of the error that Linux reports in the same situation, or of the most similar error.

extension POSIXErrorCode {
    /// Authentication failed. On Linux it has the same value as `EKEYREJECTED`.
    public static var EAUTH: POSIXErrorCode { .EKEYREJECTED }

    /// Authentication is needed. On Linux it has the same value as `ENOKEY`.
    public static var ENEEDAUTH: POSIXErrorCode { .ENOKEY }

    /// A file has the wrong type or format. On Linux it has the same value as `EMEDIUMTYPE`.
    public static var EFTYPE: POSIXErrorCode { .EMEDIUMTYPE }

    /// The attribute does not exist. On Linux it has the same value as `ENODATA`.
    public static var ENOATTR: POSIXErrorCode { .ENODATA }

    /// There are too many processes. On Linux it has the same value as `EAGAIN`.
    public static var EPROCLIM: POSIXErrorCode { .EAGAIN }

    /// The queue of an interface is full. On Linux it has the same value as `ENOBUFS`.
    public static var EQFULL: POSIXErrorCode { .ENOBUFS }

    /// A remote procedure call is malformed. On Linux it has the same value as `EBADMSG`.
    public static var EBADRPC: POSIXErrorCode { .EBADMSG }

    /// The RPC version is wrong. On Linux it has the same value as `EPROTONOSUPPORT`.
    public static var ERPCMISMATCH: POSIXErrorCode { .EPROTONOSUPPORT }

    /// The RPC program is not available. On Linux it has the same value as `EOPNOTSUPP`.
    public static var EPROGUNAVAIL: POSIXErrorCode { .EOPNOTSUPP }

    /// The version of the RPC program is wrong. On Linux it has the same value as `EPROTONOSUPPORT`.
    public static var EPROGMISMATCH: POSIXErrorCode { .EPROTONOSUPPORT }

    /// The RPC program does not have the procedure. On Linux it has the same value as `EOPNOTSUPP`.
    public static var EPROCUNAVAIL: POSIXErrorCode { .EOPNOTSUPP }

    /// A device is switched off. On Linux it has the same value as `ENXIO`.
    public static var EPWROFF: POSIXErrorCode { .ENXIO }

    /// A device failed. On Linux it has the same value as `EIO`.
    public static var EDEVERR: POSIXErrorCode { .EIO }

    /// A program or one of its libraries cannot be run. On Linux it has the same value as `ENOEXEC`.
    public static var EBADEXEC: POSIXErrorCode { .ENOEXEC }

    /// A program is built for another processor. On Linux it has the same value as `ENOEXEC`.
    public static var EBADARCH: POSIXErrorCode { .ENOEXEC }

    /// A shared library has the wrong version. On Linux it has the same value as `ELIBBAD`.
    public static var ESHLIBVERS: POSIXErrorCode { .ELIBBAD }

    /// A program file is malformed. On Linux it has the same value as `ENOEXEC`.
    public static var EBADMACHO: POSIXErrorCode { .ENOEXEC }

    /// The policy does not exist. On Linux it has the same value as `ENOENT`.
    public static var ENOPOLICY: POSIXErrorCode { .ENOENT }
}
