import Causeway
import CausewaySystem

/// A program started by this command. Unlike with Foundation's `Process`, the program stays in the tool's process
/// group, so that it can read the terminal and gets the terminal's signals.
struct ChildProgram: Sendable {
    private let process: pid_t

    /// - Parameters:
    ///   - output: The file descriptor for standard output and standard error; `nil` for the tool's own.
    ///   - readsInput: Whether the program reads the tool's standard input.
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

    /// Waits until the program ends, and blocks the calling thread meanwhile. Returns the exit code, or 128 plus the
    /// signal number if a signal ended the program.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number
    }

    func end() { kill(process, SIGTERM) }
}
