/// A failed system call with its `errno`.
package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The positive error number, captured directly after the call.
    package var errno: CInt
    /// The name of the system call, for logs.
    package var call: String

    package init(errno: CInt, call: String) {
        self.errno = errno
        self.call = call
    }

    package var description: String { "\(call) failed with errno \(errno)" }

    /// The call and the reason in words, such as `open: Permission denied`.
    package var message: String { "\(call): \(String(cString: strerror(errno)))" }

    /// Whether the process or the host lacks descriptors or memory. The call may succeed later.
    package var isShortage: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) }
}

/// Returns the result of a C shim, or throws if the result is a negated `errno`.
@discardableResult
func check(_ result: CInt, _ call: @autoclosure () -> String) throws(SystemError) -> CInt {
    guard result < 0 else { return result }
    throw SystemError(errno: -result, call: call())
}

/// Error numbers for the upper layers. They are declared here so that no other target imports a libc.
package enum Errno {
    package static let again: CInt = EAGAIN
    package static let inProgress: CInt = EINPROGRESS
    package static let connectionRefused: CInt = ECONNREFUSED
    package static let connectionReset: CInt = ECONNRESET
    package static let connectionAborted: CInt = ECONNABORTED
    package static let brokenPipe: CInt = EPIPE
    package static let timedOut: CInt = ETIMEDOUT
    package static let networkDown: CInt = ENETDOWN
    package static let networkUnreachable: CInt = ENETUNREACH
    package static let hostUnreachable: CInt = EHOSTUNREACH
    package static let addressNotAvailable: CInt = EADDRNOTAVAIL
    package static let addressInUse: CInt = EADDRINUSE
    package static let familyNotSupported: CInt = EAFNOSUPPORT
    package static let invalid: CInt = EINVAL
    package static let notSupported: CInt = ENOTSUP
    package static let protocolNotSupported: CInt = EPROTONOSUPPORT
    package static let protocolOptionNotSupported: CInt = ENOPROTOOPT
    package static let messageTooLong: CInt = EMSGSIZE
    package static let noBuffers: CInt = ENOBUFS
    package static let noMemory: CInt = ENOMEM
    package static let tooManyFiles: CInt = EMFILE
    package static let tooManyFilesInSystem: CInt = ENFILE
    package static let cancelled: CInt = ECANCELED
    package static let noData: CInt = ENODATA
    package static let notConnected: CInt = ENOTCONN
    package static let noEntry: CInt = ENOENT
    package static let badDescriptor: CInt = EBADF
    package static let inputOutput: CInt = EIO
    package static let notPermitted: CInt = EPERM
    package static let noDevice: CInt = ENODEV
}
