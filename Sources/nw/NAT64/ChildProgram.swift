import Causeway
import CausewaySystem

/// A program that this command has started. It stays in the tool's process group, unlike a program that Foundation's
/// `Process` starts. So it can read the terminal, and it gets the terminal's signals.
struct ChildProgram: Sendable {
    private let process: pid_t

    /// Starts a child program.
    ///
    /// - Parameters:
    ///   - output: The file descriptor for the child's standard output and standard error. `nil` if the child uses the
    ///     same output as this tool.
    ///   - readsInput: Whether the child reads from this tool's standard input.
    /// - Throws: `.posix` with the error code from `posix_spawn(3)`, such as `.ENOENT`.
    init(_ path: String, _ arguments: [String], output: Int32? = nil, readsInput: Bool = false)
        throws(NWError)
    {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if !readsInput { posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            posix_spawn_file_actions_adddup2(&actions, output, 2)
        }
        // Restore the default signal settings: the tool ignores some signals, and its threads block others.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, path, &actions, &attributes, &words, environ)
        guard code == 0 else { throw NWError(errno: code) }
        self.process = process
    }

    /// Waits until the program ends. Blocks the calling thread.
    ///
    /// Returns the exit code. If a signal ended the program, returns 128 plus the signal number.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number
    }

    func end() { kill(process, SIGTERM) }
}
