internal import CausewaySystem

/// A value behind a lock. On Apple systems, the standard library's `Mutex` takes its place; on Linux, ThreadSanitizer does not see that one.
typealias LockedValue<Value: ~Copyable> = CausewaySystem.LockedValue<Value>
