public import CCausewayLinux
public import Synchronization

/// A value protected by a lock.
///
/// This is the standard library's `Mutex` with annotations for ThreadSanitizer. The library's own locking is not
/// instrumented on Linux: without annotations, the sanitizer reports every access to a locked value as a race. In other
/// builds the annotations do nothing. The type is `public` only because the compiler does not specialize `package`
/// types across modules.
@frozen public struct LockedValue<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>

    /// Creates a lock with its initial value.
    @inlinable public init(_ initial: consuming sending Value) { mutex = Mutex(initial) }

    /// Calls `body` with exclusive access to the value. `body` must not call the program's code. A system call in
    /// `body` needs a comment with the reason.
    @inlinable public borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        // The sanitizer identifies a lock by an address. Use the address of the mutex. Taking the value's address would
        // count as an access to the value. The pointer is only compared, never dereferenced.
        let lock = withUnsafePointer(to: mutex) { UnsafeRawPointer($0) }
        return try mutex.withLock { value throws(E) in
            cw_lock_acquired(lock)
            defer { cw_lock_releasing(lock) }
            return try body(&value)
        }
    }
}

// SAFETY: the only access to the value is through `Mutex`. `Mutex` is Sendable under the same conditions.
extension LockedValue: @unchecked Sendable where Value: ~Copyable {}
