// Errors that `POSIXErrorCode` has on Apple platforms and not on Linux: `framer.markFailed(error: .posix(.EAUTH))`. Each stands for
// what Linux reports in its place, or comes nearest.

extension POSIXErrorCode {
    /// Authentication failed. On Linux it is the same number as `EKEYREJECTED`.
    public static var EAUTH: POSIXErrorCode { .EKEYREJECTED }

    /// Authentication is needed. On Linux it is the same number as `ENOKEY`.
    public static var ENEEDAUTH: POSIXErrorCode { .ENOKEY }

    /// A file is of the wrong type or format. On Linux it is the same number as `EMEDIUMTYPE`.
    public static var EFTYPE: POSIXErrorCode { .EMEDIUMTYPE }

    /// There is no such attribute. On Linux it is the same number as `ENODATA`.
    public static var ENOATTR: POSIXErrorCode { .ENODATA }

    /// There are too many processes. On Linux it is the same number as `EAGAIN`.
    public static var EPROCLIM: POSIXErrorCode { .EAGAIN }

    /// The queue of an interface is full. On Linux it is the same number as `ENOBUFS`.
    public static var EQFULL: POSIXErrorCode { .ENOBUFS }

    /// A remote call is malformed. On Linux it is the same number as `EBADMSG`.
    public static var EBADRPC: POSIXErrorCode { .EBADMSG }

    /// The version of a remote call is another one. On Linux it is the same number as `EPROTONOSUPPORT`.
    public static var ERPCMISMATCH: POSIXErrorCode { .EPROTONOSUPPORT }

    /// There is no such program for remote calls. On Linux it is the same number as `EOPNOTSUPP`.
    public static var EPROGUNAVAIL: POSIXErrorCode { .EOPNOTSUPP }

    /// The version of a program for remote calls is another one. On Linux it is the same number as `EPROTONOSUPPORT`.
    public static var EPROGMISMATCH: POSIXErrorCode { .EPROTONOSUPPORT }

    /// A program has no such procedure for remote calls. On Linux it is the same number as `EOPNOTSUPP`.
    public static var EPROCUNAVAIL: POSIXErrorCode { .EOPNOTSUPP }

    /// A device is switched off. On Linux it is the same number as `ENXIO`.
    public static var EPWROFF: POSIXErrorCode { .ENXIO }

    /// A device failed. On Linux it is the same number as `EIO`.
    public static var EDEVERR: POSIXErrorCode { .EIO }

    /// A program, or a library of it, cannot be run. On Linux it is the same number as `ENOEXEC`.
    public static var EBADEXEC: POSIXErrorCode { .ENOEXEC }

    /// A program is made for another processor. On Linux it is the same number as `ENOEXEC`.
    public static var EBADARCH: POSIXErrorCode { .ENOEXEC }

    /// A shared library is of another version. On Linux it is the same number as `ELIBBAD`.
    public static var ESHLIBVERS: POSIXErrorCode { .ELIBBAD }

    /// A program's file is malformed. On Linux it is the same number as `ENOEXEC`.
    public static var EBADMACHO: POSIXErrorCode { .ENOEXEC }

    /// There is no such policy. On Linux it is the same number as `ENOENT`.
    public static var ENOPOLICY: POSIXErrorCode { .ENOENT }
}
