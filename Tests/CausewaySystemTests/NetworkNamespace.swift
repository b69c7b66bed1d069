import Foundation
import Glibc

/// A separate network namespace for one test.
final class NetworkNamespace: Sendable {
    let name = "causeway-\(getpid())-\(UInt32.random(in: .min ... .max))"

    /// Whether tests can create network namespaces. This needs root, ip(8), and a kernel and sandbox that allow
    /// namespaces.
    static let isAvailable: Bool = geteuid() == 0 && (try? NetworkNamespace().remove()) != nil

    struct CommandFailure: Error {
        let command: [String]
        let status: Int32
    }

    private init() throws {
        try Self.run(["ip", "netns", "add", name])
    }

    private func remove() throws {
        try Self.run(["ip", "netns", "delete", name])
    }

    /// Creates a namespace with an active loopback interface for the duration of `body`.
    static func with(_ body: (NetworkNamespace) async throws -> Void) async throws {
        let namespace = try NetworkNamespace()
        // Remove the namespace here and not in a deinit, which could run on a thread that the process does not wait for.
        defer { try? namespace.remove() }
        try namespace.ip("link set lo up")
        try await body(namespace)
    }

    /// Runs an ip(8) command in the namespace.
    func ip(_ words: String) throws {
        try Self.run(["ip", "-n", name] + words.split(separator: " ").map(String.init))
    }

    /// Runs ip(8) commands as a batch.
    func ip(batch lines: [String]) throws {
        try run("ip", batch: lines)
    }

    /// Runs several commands of ip(8) or bridge(8) as one batch.
    func run(_ tool: String, batch lines: [String]) throws {
        let process = try start(tool, batch: lines)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure(command: [tool, "-batch"], status: process.terminationStatus)
        }
    }

    /// Starts the program `tool` with a batch of commands.
    func start(_ tool: String, batch lines: [String]) throws -> Process {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let process = Self.process([tool, "-n", name, "-batch", file.path])
        process.terminationHandler = { _ in try? FileManager.default.removeItem(at: file) }
        try process.run()
        return process
    }

    /// Runs `body` on a thread in the namespace.
    func enter<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = "/run/netns/\(name)"
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Self.join(path)
                        return try body()
                    })
            }
        }
    }

    private static func join(_ path: String) throws {
        // Look up `setns` at run time, because the C library's Swift module does not include this Linux function.
        typealias SetNamespace = @convention(c) (CInt, CInt) -> CInt
        guard let symbol = dlsym(nil, "setns") else { throw POSIXError(.ENOSYS) }
        let setNamespace = unsafeBitCast(symbol, to: SetNamespace.self)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard setNamespace(descriptor, 0x4000_0000 /* CLONE_NEWNET */) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
        }
    }

    private static func run(_ command: [String]) throws {
        let process = process(command)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure(command: command, status: process.terminationStatus)
        }
    }

    private static func process(_ command: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        return process
    }
}
