internal import CCausewayLinux

/// What belongs to the calling thread alone.
package enum ThreadLocal {
    /// A block for one read. Valid until the thread reads again; never keep it.
    package static var scratch: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: cw_scratch(), count: Int(CW_SCRATCH_SIZE))
    }

    /// Takes the scratch block away from the thread; free it with `free`.
    package static func takeScratch() -> UnsafeMutableRawPointer { cw_take_scratch() }

    /// Tells living tasks apart: the one that runs on this thread. 0 outside of tasks.
    package static var task: Int { Int(bitPattern: cw_current_task()) }

    /// Whether that task was cancelled.
    package static var isTaskCancelled: Bool {
        guard let task = cw_current_task() else { return false }
        return cw_task_is_cancelled(task)
    }

    /// The event loop whose thread this is.
    package static var loop: UnsafeMutableRawPointer? {
        get { cw_thread_word(0) }
        set { cw_set_thread_word(0, newValue) }
    }

    /// The delivery that is calling the program's code on this thread.
    package static var delivery: UnsafeMutableRawPointer? {
        get { cw_thread_word(1) }
        set { cw_set_thread_word(1, newValue) }
    }
}
