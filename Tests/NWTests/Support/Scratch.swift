import Causeway
import Dispatch
import Foundation
import Synchronization
import Testing

/// A test's directory, its endpoints and the programs it started. The directory and the programs are removed when the
/// test ends.
final class Scratch {
    let directory: URL
    private var fileCount = 0
    private var children: [Child] = []

    private init() throws {
        // A write to the input of an ended child process raises SIGPIPE. Ignore this signal, because it would end the
        // tests.
        signal(SIGPIPE, SIG_IGN)
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("nw-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    static func run(
        isolation: isolated (any Actor)? = #isolation, _ body: (Scratch) async throws -> Void
    ) async throws {
        let scratch = try Scratch()
        defer {
            for child in scratch.children { child.kill() }
            try? FileManager.default.removeItem(at: scratch.directory)
        }
        try await body(scratch)
    }

    /// Creates an empty file.
    func newFile(_ suffix: String) throws -> URL {
        fileCount += 1
        let url = directory.appendingPathComponent("\(fileCount).\(suffix)")
        try Data().write(to: url)
        return url
    }

    func newDirectory(_ name: String) throws -> URL {
        let url = directory.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Starts the `nw` that was built together with these tests.
    func startNW(_ arguments: [String], input: Child.Input = .nothing) throws -> Child {
        try start(try Built.nw(), arguments, input: input)
    }

    /// Starts a program by name or path.
    func startProgram(_ name: String, _ arguments: [String], input: Child.Input = .nothing) throws -> Child {
        let path = name.hasPrefix("/") ? name : try #require(Programs.find(name), "\(name) is not installed")
        return try start(path, arguments, input: input)
    }

    private func start(_ path: String, _ arguments: [String], input: Child.Input) throws -> Child {
        let child = try Child(path, arguments, input: input, in: self)
        children.append(child)
        return child
    }

    /// Returns an address without a listener.
    func newPlace(_ medium: Medium) async throws -> Place {
        switch medium {
        case .ipv4: .tcp("127.0.0.1", try await freePort("127.0.0.1", using: .tcp))
        case .ipv6: .tcp("::1", try await freePort("::1", using: .tcp))
        case .unix: .unix(directory.appendingPathComponent("socket").path)
        }
    }

    /// Returns a free port. No port is returned twice.
    ///
    /// The port is below the kernel's range for outgoing connections. Otherwise one of many thousand connections in
    /// other tests could take the port before it is used.
    func freePort(_ host: NWEndpoint.Host, using parameters: NWParameters) async throws -> UInt16 {
        for _ in 0..<200 {
            let port = Ports.next()
            let attempt = parameters.copy()
            attempt.requiredLocalEndpoint = .hostPort(host: host, port: NWEndpoint.Port(integerLiteral: port))
            let listener = try NWListener(using: attempt)
            let latest = Mutex(NWListener.State.setup)
            // The state changes at once, but the handler reports it only after the socket was closed.
            listener.stateUpdateHandler = { state in latest.withLock { $0 = state } }
            listener.newConnectionHandler = { $0.cancel() }
            listener.start(queue: DispatchQueue(label: "free-port"))
            try await eventually("a port is tried") { latest.withLock { $0 } != .setup }
            let isFree = latest.withLock { $0 } == .ready
            listener.cancel()
            try await eventually("the port is released") { latest.withLock { $0 } == .cancelled }
            // A program that another test starts at this moment is at first a copy of this process with copies of its
            // sockets. Such a copy would still listen: the next connection to the port would reach no program.
            if isFree, !Sockets.isTaken(port) { return port }
        }
        throw NWError.posix(.EADDRINUSE)
    }
}

/// The ports 10,000 to 29,999 in turn, from a start that differs between processes.
private enum Ports {
    private static let turn = Atomic<UInt32>(UInt32.random(in: 0..<20_000))

    static func next() -> UInt16 {
        UInt16(10_000 + turn.wrappingAdd(1, ordering: .relaxed).oldValue % 20_000)
    }
}

/// Finds programs that are installed on this host.
enum Programs {
    static func find(_ name: String) -> String? {
        let directories = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return directories.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// Finds the executables that were built together with these tests.
enum Built {
    static func nw() throws -> String { try program("nw") }

    static func program(_ name: String) throws -> String {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let bundles = [executable] + CommandLine.arguments
        let candidates = bundles.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent(name).path
        }
        return try #require(
            candidates.first { FileManager.default.isExecutableFile(atPath: $0) },
            "\(name) is not in the directory of the tests")
    }
}
