import Causeway
import Dispatch
import FoundationEssentials

/// The longest time for one step. A step that takes longer fails.
let patience = DispatchTimeInterval.seconds(20)

extension NWListener {
    /// Starts the listener and returns when it is ready.
    func becomeReady() async throws {
        try await withCheckedThrowingContinuation { (ready: CheckedContinuation<Void, any Error>) in
            stateUpdateHandler = { [weak self] state in
                switch state {
                case .ready: ready.resume()
                case .failed(let error): ready.resume(throwing: error)
                case .waiting(let error): ready.resume(throwing: error)
                case .setup, .cancelled: return
                @unknown default: return
                }
                self?.stateUpdateHandler = nil
            }
            start(queue: DispatchQueue(label: "tour.listener"))
        }
    }
}

extension NWConnection {
    /// Starts the connection and returns when it is ready.
    func becomeReady() async throws {
        let queue = DispatchQueue(label: "tour.client")
        try await withCheckedThrowingContinuation { (ready: CheckedContinuation<Void, any Error>) in
            stateUpdateHandler = { [weak self] state in
                switch state {
                case .ready: ready.resume()
                // On Apple's systems, a connection that cannot be established waits for a better network. The tour does
                // not wait: the state `waiting` is an error.
                case .waiting(let error), .failed(let error): ready.resume(throwing: error)
                case .cancelled: ready.resume(throwing: TourFailure("no answer within 20 s"))
                case .setup, .preparing: return
                @unknown default: return
                }
                self?.stateUpdateHandler = nil
            }
            start(queue: queue)
            queue.asyncAfter(deadline: .now() + patience) { [weak self] in self?.cancel() }
        }
    }

    /// Sends bytes, and receives the same number of bytes at the same time.
    func exchange(_ content: Data) async throws -> Data {
        async let sending: Void = deliver(content)
        var returned = Data()
        while returned.count < content.count, let piece = try await receivePiece() { returned += piece }
        try await sending
        return returned
    }

    /// Sends a datagram and receives one.
    func exchangeMessage(_ content: Data) async throws -> Data? {
        try await deliver(content)
        return try await withCheckedThrowingContinuation { received in
            receiveMessage { content, _, _, error in
                if let error { received.resume(throwing: error) } else { received.resume(returning: content) }
            }
        }
    }

    /// Returns the report about how the connection was established.
    func establishmentReport() async -> EstablishmentReport? {
        await withCheckedContinuation { continuation in
            requestEstablishmentReport(queue: .global()) { continuation.resume(returning: $0) }
        }
    }

    private func deliver(_ content: Data) async throws {
        try await withCheckedThrowingContinuation { (sent: CheckedContinuation<Void, any Error>) in
            send(
                content: content,
                completion: .contentProcessed { error in
                    if let error { sent.resume(throwing: error) } else { sent.resume() }
                })
        }
    }

    private func receivePiece() async throws -> Data? {
        try await withCheckedThrowingContinuation { received in
            receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, _, error in
                if let error { received.resume(throwing: error) } else { received.resume(returning: content) }
            }
        }
    }
}
