import Causeway
import FoundationEssentials

/// Sends each line of standard input as a WebSocket message, and prints each received message.
struct WebSocketRelay: Sendable {
    private enum End { case input, peer, idle }

    /// The maximum size of a line, and of one read, in bytes.
    private static let longestLine = 1 << 20
    private static let chunk = 65_536

    let connection: NWConnection
    let options: CatOptions

    /// Relays messages between the connection and this process's input and output. Returns when the peer has closed the
    /// connection, or when no message has passed for the idle limit. If `closesAfterInput` is set, sends a close frame
    /// at the end of the input. It then waits until the peer closes the connection.
    func run() async throws {
        let activity = RelayActivity()
        try await withThrowingTaskGroup(of: End.self) { group in
            if options.readsInput {
                group.addTask {
                    try await upload(activity)
                    return .input
                }
            }
            group.addTask {
                try await download(activity)
                return .peer
            }
            if let limit = options.limit {
                group.addTask {
                    try await activity.waitUntilIdle(for: limit)
                    return .idle
                }
            }
            defer {
                // Cancel the connection too: pending sends and receives of the child tasks return only when the
                // connection ends.
                connection.cancel()
                group.cancelAll()
            }
            while let end = try await group.next() { if end != .input { return } }
        }
    }

    private func upload(_ activity: RelayActivity) async throws {
        var rest = Data()
        while let chunk = try await StandardInput.shared.next(atMost: Self.chunk) {
            activity.note()
            rest.append(chunk)
            while let newline = rest.firstIndex(of: 10) {
                try await send(rest[..<newline])
                activity.note()
                rest = Data(rest[(newline + 1)...])
            }
            if rest.count > Self.longestLine {
                throw CommandFailure("a line of input is longer than \(Self.longestLine) bytes")
            }
        }
        if !rest.isEmpty { try await send(rest) }
        if options.closesAfterInput { try await send(Data(), .close) }
    }

    /// Sends one line: as a text message if it is valid UTF-8, otherwise as a binary message.
    private func send(_ line: Data) async throws {
        var line = line
        if line.last == 13 { line = line.dropLast() }
        try await send(Data(line), String(validating: line, as: UTF8.self) == nil ? .binary : .text)
    }

    private func send(_ content: Data, _ opcode: NWProtocolWebSocket.Opcode) async throws {
        let metadata = NWProtocolWebSocket.Metadata(opcode: opcode)
        let context = NWConnection.ContentContext(identifier: "nw.cat", metadata: [metadata])
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                connection.send(
                    content: content, contentContext: context,
                    completion: .contentProcessed { error in
                        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
                    })
            }
        } catch {
            throw CommandFailure("send to \(connection.endpoint.label) failed", error)
        }
    }

    private func download(_ activity: RelayActivity) async throws {
        while let (content, opcode) = try await receive() {
            activity.note()
            defer { activity.note() }
            switch opcode {
            case .text: try await StandardOutput.write(content + [10])
            case .binary: try await StandardOutput.write(content)
            case .close:
                if options.isVerbose, !content.isEmpty {
                    printError("nw: cat: closed by the peer: \(String(decoding: content, as: UTF8.self))")
                }
            case .cont, .ping, .pong, nil: break
            }
        }
    }

    /// Receives the next message. Returns `nil` at the end of the connection.
    private func receive() async throws -> (Data, NWProtocolWebSocket.Opcode?)? {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                connection.receiveMessage { content, context, _, error in
                    let found = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
                    let opcode = (found as? NWProtocolWebSocket.Metadata)?.opcode
                    if context?.isFinal == true, content == nil, opcode == nil {
                        continuation.resume(returning: nil)
                    } else if let error {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(returning: (content ?? Data(), opcode))
                    }
                }
            }
        } catch {
            throw CommandFailure("receive from \(connection.endpoint.label) failed", error)
        }
    }
}
