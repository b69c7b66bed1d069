import Foundation
import Testing

/// A program started by a test. It ends with the test at the latest.
///
/// Foundation's `Process` is not used: its children inherit the blocked signals of the thread that starts them and
/// cannot be ended, and waiting for them uses a whole processor.
final class Child {
    enum Input {
        case nothing
        case file(URL)
        /// Input that the test writes in pieces with ``write(_:)``. It ends with ``endInput()``.
        case held
    }

    /// The maximum lifetime of a child process in seconds. It applies if the tests themselves are killed.
    ///
    /// The limit is high for this reason: while unit tests use all processors, a test can wait minutes for its next
    /// turn. Its server must still run then.
    private static let lifetime = 1_200
    /// The time after which an event counts as missing. A test that succeeds never waits this long.
    static let patience = Duration.seconds(120)

    let name: String
    private let identifier: pid_t
    private var status: Int32?
    private var held: FileHandle?
    private let outputURL: URL
    private let errorURL: URL

    init(_ path: String, _ arguments: [String], input: Input, in scratch: Scratch) throws {
        name = ([URL(fileURLWithPath: path).lastPathComponent] + arguments).joined(separator: " ")
        outputURL = try scratch.newFile("out")
        errorURL = try scratch.newFile("err")
        let standardInput: FileHandle
        switch input {
        case .nothing: standardInput = FileHandle.nullDevice
        case .file(let url): standardInput = try FileHandle(forReadingFrom: url)
        case .held:
            let pipe = Pipe()
            // Close this descriptor in other child processes. If one of them inherited a copy, the input would never
            // end.
            _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            standardInput = pipe.fileHandleForReading
            held = pipe.fileHandleForWriting
        }
        let timeout = try #require(Programs.find("timeout"), "timeout(1) is needed")
        identifier = try Spawn.start(
            timeout, ["-k", "1", "\(Self.lifetime)", path] + arguments,
            input: standardInput, output: try FileHandle(forWritingTo: outputURL),
            error: try FileHandle(forWritingTo: errorURL))
    }

    /// The output so far.
    var output: Data { (try? Data(contentsOf: outputURL, options: .alwaysMapped)) ?? Data() }
    var text: String { String(decoding: output, as: UTF8.self) }
    var errors: String { (try? String(contentsOf: errorURL, encoding: .utf8)) ?? "" }

    func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    func write(_ bytes: Data) throws {
        try held?.write(contentsOf: bytes)
    }

    func endInput() throws {
        try held?.close()
        held = nil
    }

    /// Waits for the end and returns the exit code; 128 plus the signal's number if a signal ended the program.
    func finished() async throws -> Int32 {
        try await eventually("'\(name)' ends") { self.reap(waiting: false) != nil }
        return try #require(status)
    }

    /// Waits until the output equals the text. Does not compare the lines in which `nw browse -v` shows the places of
    /// services.
    func printsEvents(_ text: String) async throws {
        try await eventually("'\(name)' prints \(text)") {
            self.text.split(separator: "\n").filter { !$0.hasPrefix("= ") }.map { $0 + "\n" }.joined() == text
        }
    }

    /// Waits until the program's output equals this text.
    func prints(_ text: String) async throws {
        try await eventually("'\(name)' prints \(text)") { self.output == Data(text.utf8) }
    }

    /// Returns the number at the end of the line `listening on port N`.
    func announcedPort() async throws -> UInt16 {
        func port() -> UInt16? {
            guard let line = text.split(separator: "\n").first, text.contains("\n") else { return nil }
            return line.split(separator: " ").last.flatMap { UInt16($0) }
        }
        try await eventually("'\(name)' prints its port") { port() != nil }
        return try #require(port())
    }

    /// Sends SIGTERM to the program.
    func interrupt() throws { Foundation.kill(try program(), SIGTERM) }

    /// Returns the process identifier of the program itself. The direct child process is timeout(1), and the program is
    /// the only child of timeout(1).
    func program() throws -> pid_t { try #require(runningProgram) }

    /// The program's process identifier; `nil` if it has ended.
    private var runningProgram: pid_t? {
        let place = "/proc/\(identifier)/task/\(identifier)/children"
        let children = try? String(contentsOfFile: place, encoding: .utf8)
        return children?.split(separator: " ").first.flatMap { pid_t($0) }
    }

    /// Returns the resources used so far: processor time in seconds, and peak memory in MiB.
    func usage() throws -> (seconds: Double, memory: Double) {
        let process = "/proc/\(try program())"
        let fields =
            try String(contentsOfFile: "\(process)/stat", encoding: .utf8).split(separator: ")").last?
            .split(separator: " ").compactMap { Double($0) } ?? []
        let lines = try String(contentsOfFile: "\(process)/status", encoding: .utf8).split(separator: "\n")
        let peak = lines.first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first.flatMap {
            Double($0)
        }
        // The fields after the process state. The 12th is the user time and the 13th the system time, both in
        // hundredths of a second.
        let ticks = fields.count > 12 ? fields[10] + fields[11] : 0
        return (ticks / 100, (peak ?? 0) / 1_024)
    }

    /// Ends the program and all processes that it started.
    func kill() {
        guard reap(waiting: false) == nil else { return }
        let program = runningProgram
        // The child process leads a process group, so kill the whole group.
        Foundation.kill(-identifier, SIGKILL)
        _ = reap(waiting: true)
        // timeout(1) may end before the program that it runs. That program holds its ports until it ends, so wait for
        // it.
        for _ in 0..<1_000 where program.map(Self.isAlive) == true { usleep(1_000) }
    }

    /// Whether a process is still running, so that it still has its descriptors.
    private static func isAlive(_ process: pid_t) -> Bool {
        let fields = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: ")").last
        return fields.map { !$0.hasPrefix(" Z") && !$0.hasPrefix(" X") } ?? false
    }

    private func reap(waiting: Bool) -> Int32? {
        if status != nil { return status }
        var word: Int32 = 0
        guard waitpid(identifier, &word, waiting ? 0 : WNOHANG) == identifier else { return nil }
        let signal = word & 0x7F
        status = signal == 0 ? (word >> 8) & 0xFF : 128 + signal
        return status
    }
}

/// Starts programs. Each gets a new process group and the default handling of signals.
private enum Spawn {
    static func start(
        _ path: String, _ arguments: [String], input: FileHandle, output: FileHandle, error: FileHandle
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, handle) in [(0, input), (1, output), (2, error)] as [(Int32, FileHandle)] {
            posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, number)
        }
        try closeOthers(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, path, &actions, &attributes, &words, environ)
        guard code == 0 else {
            throw NeverHappened(description: "'\(path)' starts: \(String(cString: strerror(code)))")
        }
        return identifier
    }

    /// Closes all other descriptors in the child process. Otherwise the child could inherit a pipe that another test
    /// has just created. The pipe's reader would then see no end of input before this child ends.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) throws {
        // Swift's Glibc module does not include this function, so look it up at run time.
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
            unsafeBitCast(symbol, to: CloseFrom.self)(&actions, 3) == 0
        else { throw POSIXError(.ENOSYS) }
    }
}

/// The error that an expected event did not happen in time.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits until a condition holds.
///
/// - Parameter seen: Returns the text that explains a failure, such as the output of a program.
/// - Throws: ``NeverHappened`` after ``Child/patience``.
func eventually(
    _ what: String, isolation: isolated (any Actor)? = #isolation, seen: () -> String = { "" },
    _ condition: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + Child.patience
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(description: "\(what) \(seen())") }
        try await Task.sleep(for: .milliseconds(3))
    }
}
