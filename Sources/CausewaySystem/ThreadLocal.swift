internal import CCausewayLinux

/// The calling thread's own data.
package enum ThreadLocal {
    /// A buffer for one read. Its content is valid until the thread's next read, so do not keep the buffer.
    package static var scratch: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: cw_scratch(), count: Int(CW_SCRATCH_SIZE))
    }

    /// Transfers ownership of the ``scratch`` buffer to the caller, which must release the buffer with `free`.
    package static func takeScratch() -> UnsafeMutableRawPointer { cw_take_scratch() }

    /// A number that identifies the Swift task on this thread; 0 if no task runs on it. After a task has ended, another
    /// task may get the same number.
    package static var task: Int { Int(bitPattern: cw_current_task()) }

    /// Whether the current task was cancelled; `false` outside tasks.
    package static var isTaskCancelled: Bool {
        guard let task = cw_current_task() else { return false }
        return cw_task_is_cancelled(task)
    }

    /// The event loop running on this thread.
    package static var loop: UnsafeMutableRawPointer? {
        get { cw_thread_word(0) }
        set { cw_set_thread_word(0, newValue) }
    }

    /// The delivery (a queue of callbacks) that is currently calling the program's code on this thread.
    package static var delivery: UnsafeMutableRawPointer? {
        get { cw_thread_word(1) }
        set { cw_set_thread_word(1, newValue) }
    }
}
