import CausewaySystem
import FoundationEssentials

/// An HTTP server on the loopback interface. A test scripts its responses, which can be malformed.
final class ScriptedServer: Sendable {
    private let listener: RawSocket
    private let port: UInt16
    private let medium: Medium
    private let accepted = Counter()
    private let task = LockedValue<Task<Void, Never>?>(nil)

    /// Starts the server. `script` runs once for each connection. The connection closes when the script ends.
    init(_ medium: Medium = .tcp4, _ script: @escaping @Sendable (ScriptedPeer) async throws -> Void) throws {
        Backend.choose()
        self.medium = medium
        listener = try RawSocket.listening(medium, backlog: 128)
        port = listener.port
        let started = Task { [listener, accepted] in
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled, let socket = try? await listener.accept() {
                    accepted.increment()
                    group.addTask {
                        let peer = ScriptedPeer(socket)
                        try? await script(peer)
                        socket.close()
                    }
                }
            }
        }
        task.withLock { task in task = started }
    }

    deinit { stop() }

    /// Stops accepting connections. The scripts of accepted connections continue.
    func stop() {
        task.withLock { task in task }?.cancel()
        listener.close()
    }

    /// The number of accepted connections.
    var acceptedCount: Int { accepted.value }

    func uri(_ path: String = "/") -> String {
        "http://\(medium == .tcp6 ? "[::1]" : "127.0.0.1"):\(port)\(path)"
    }
}

/// The server's side of one connection.
final class ScriptedPeer: Sendable {
    let socket: RawSocket
    private let input = LockedValue(Data())

    init(_ socket: RawSocket) { self.socket = socket }

    /// Reads the head of a request. Returns `nil` at the end of the stream.
    func readHead() async throws -> String? {
        let end = Data("\r\n\r\n")
        while true {
            let head = input.withLock { input -> Data? in
                guard let range = input.firstRange(of: end) else { return nil }
                let head = Data(input[..<range.lowerBound])
                input = Data(input[range.upperBound...])
                return head
            }
            if let head { return String(decoding: head, as: UTF8.self) }
            let piece = try await socket.read()
            guard !piece.isEmpty else { return nil }
            input.withLock { input in input += piece }
        }
    }

    /// Reads until the input ends with `end`. Returns all bytes that were read.
    func read(through end: String) async throws -> String {
        while true {
            let all = String(decoding: input.withLock { input in input }, as: UTF8.self)
            if all.hasSuffix(end) {
                input.withLock { input in input = Data() }
                return all
            }
            let piece = try await socket.read()
            guard !piece.isEmpty else { return all }
            input.withLock { input in input += piece }
        }
    }

    /// Reads this number of bytes, or all bytes until the end of the stream.
    func read(count: Int) async throws -> String {
        try await take { input in input.count >= count ? count : nil }
    }

    /// Reads a line, without its end.
    func read(line: Void) async throws -> String {
        let end = Data("\r\n".utf8)
        return String(try await take { input in input.firstRange(of: end)?.upperBound }.dropLast())
    }

    /// Removes and returns the first bytes of the input. `count` decides how many. If it returns `nil`, waits for more
    /// input.
    private func take(_ count: (Data) -> Int?) async throws -> String {
        while true {
            let taken = input.withLock { input -> Data? in
                guard let count = count(input) else { return nil }
                let taken = Data(input.prefix(count))
                input = Data(input.dropFirst(count))
                return taken
            }
            if let taken { return String(decoding: taken, as: UTF8.self) }
            let piece = try await socket.read()
            guard !piece.isEmpty else { return "" }
            input.withLock { input in input += piece }
        }
    }

    func write(_ text: String) async throws { try await socket.write(Data(text)) }

    /// Writes a response with a `Content-Length` field.
    func respond(_ body: String, fields: String = "") async throws {
        try await write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }
}
