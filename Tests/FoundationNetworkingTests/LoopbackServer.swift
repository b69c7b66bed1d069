// A small HTTP/1.1 server on the loopback interface.
import Causeway
import Dispatch
import Foundation

/// A test server that accepts connections and answers their requests.
final class LoopbackServer: Sendable {
    private let listener: NWListener
    /// The port that the kernel chose.
    let port: UInt16

    init(_ answer: @escaping @Sendable (Asked) -> Answer) {
        let parameters = NWParameters.tcp
        parameters.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: .any)
        guard let listener = try? NWListener(using: parameters) else { fatalError("no listener on loopback") }
        let queue = DispatchQueue(label: "loopback-server")
        let ready = DispatchSemaphore(value: 0)
        listener.stateUpdateHandler = { if case .ready = $0 { ready.signal() } }
        listener.newConnectionHandler = { LoopbackPeer($0, answer).start(queue) }
        listener.start(queue: queue)
        ready.wait()
        self.listener = listener
        port = listener.port?.rawValue ?? 0
    }

    deinit { listener.cancel() }
}

/// The server's side of one connection. All its methods run on one queue.
private final class LoopbackPeer: @unchecked Sendable {
    private let connection: NWConnection
    private let answer: @Sendable (Asked) -> Answer
    private var input = Data()

    init(_ connection: NWConnection, _ answer: @escaping @Sendable (Asked) -> Answer) {
        self.connection = connection
        self.answer = answer
    }

    func start(_ queue: DispatchQueue) {
        connection.start(queue: queue)
        receive()
    }

    private func receive() {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { [self] content, _, isComplete, error in
            input.append(content ?? Data())
            while let request = takeRequest() { guard send(answer(request)) else { return connection.cancel() } }
            if isComplete || error != nil { connection.cancel() } else { receive() }
        }
    }

    /// Removes the first whole request from the input.
    private func takeRequest() -> Asked? {
        guard let end = input.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        var lines = String(decoding: input[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        var request = Asked(
            method: String(words[0]), path: target[0], query: target.count > 1 ? target[1] : "", fields: [:],
            body: Data())
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            request.fields[String(parts[0])] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        let rest = Data(input[end.upperBound...])
        let isChunked = request.field("Transfer-Encoding")?.lowercased() == "chunked"
        let length = request.field("Content-Length").flatMap(Int.init) ?? 0
        guard
            let (body, left) = isChunked
                ? chunks(rest) : rest.count < length ? nil : (rest.prefix(length), rest.dropFirst(length))
        else { return nil }
        request.body = Data(body)
        input = Data(left)
        return request
    }

    /// Returns a chunked body and what follows it (RFC 9112 §7.1), or `nil` if the body is not complete.
    private func chunks(_ data: Data) -> (Data, Data)? {
        var body = Data()
        var rest = data
        while let end = rest.firstRange(of: Data("\r\n".utf8)) {
            guard let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            let content = rest[end.upperBound...]
            guard content.count >= size + 2 else { return nil }
            body.append(content.prefix(size))
            rest = Data(content.dropFirst(size + 2))
            if size == 0 { return (body, rest) }
        }
        return nil
    }

    /// Sends an answer. If the answer is a failure, sends nothing and returns `false`. The caller must then close the
    /// connection.
    private func send(_ answer: Answer) -> Bool {
        guard answer.failure == nil else { return false }
        var head = "HTTP/1.1 \(answer.status) -\r\n"
        for (name, value) in answer.fields { head += "\(name): \(value)\r\n" }
        let hasNoBody = answer.status == 204 || answer.status == 304
        if !hasNoBody, !answer.fields.keys.contains("Content-Length") {
            head += "Content-Length: \(answer.pieces.reduce(0) { $0 + $1.count })\r\n"
        }
        connection.send(content: Data((head + "\r\n").utf8), completion: .idempotent)
        for piece in answer.pieces { connection.send(content: piece, completion: .idempotent) }
        return true
    }
}
