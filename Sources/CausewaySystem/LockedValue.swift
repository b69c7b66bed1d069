public import CCausewayLinux
public import Synchronization

/// A value behind a lock.
///
/// It is the standard library's `Mutex`, told to ThreadSanitizer: the library's own locking is not instrumented on Linux, so the
/// sanitizer would report every access to a locked value as a race, and hide the true ones among them. Outside sanitizer
/// builds the two calls do nothing. `public` for the compiler alone, which specializes nothing less across modules.
@frozen public struct LockedValue<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>

    @inlinable public init(_ initial: consuming sending Value) { mutex = Mutex(initial) }

    /// Calls `body` with the value, which nobody else touches meanwhile. Neither system calls nor foreign code belong there.
    @inlinable public borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        // The sanitizer counts taking the value's address as an access, so the lock's own address names the lock. It is only ever
        // compared, never followed.
        let lock = withUnsafePointer(to: mutex) { UnsafeRawPointer($0) }
        return try mutex.withLock { value throws(E) in
            cw_lock_acquired(lock)
            defer { cw_lock_releasing(lock) }
            return try body(&value)
        }
    }
}

// SAFETY: the value is reached through `Mutex` only, which is Sendable on the same terms.
extension LockedValue: @unchecked Sendable where Value: ~Copyable {}
