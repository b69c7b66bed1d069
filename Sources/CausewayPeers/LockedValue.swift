internal import CausewaySystem

/// A value behind a lock. The lock is the type from CausewaySystem, because ThreadSanitizer does not recognize the
/// standard library's `Mutex` on Linux. On Apple systems, `Mutex` can replace this type.
typealias LockedValue<Value: ~Copyable> = CausewaySystem.LockedValue<Value>
