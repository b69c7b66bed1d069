internal import CCausewayLinux

/// Data that belongs to the calling thread.
package enum ThreadLocal {
    /// A buffer for one read. It is valid until the thread reads again, so do not keep it.
    package static var scratch: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: cw_scratch(), count: Int(CW_SCRATCH_SIZE))
    }

    /// Transfers ownership of the scratch block to the caller, who releases it with `free`.
    package static func takeScratch() -> UnsafeMutableRawPointer { cw_take_scratch() }

    /// An identifier of the task that runs on this thread; 0 outside of tasks. After the task has ended, another task may get this
    /// identifier.
    package static var task: Int { Int(bitPattern: cw_current_task()) }

    /// Whether the current task was cancelled. False outside of tasks.
    package static var isTaskCancelled: Bool {
        guard let task = cw_current_task() else { return false }
        return cw_task_is_cancelled(task)
    }

    /// The event loop that runs on this thread.
    package static var loop: UnsafeMutableRawPointer? {
        get { cw_thread_word(0) }
        set { cw_set_thread_word(0, newValue) }
    }

    /// The delivery that is calling the user's code on this thread.
    package static var delivery: UnsafeMutableRawPointer? {
        get { cw_thread_word(1) }
        set { cw_set_thread_word(1, newValue) }
    }
}
