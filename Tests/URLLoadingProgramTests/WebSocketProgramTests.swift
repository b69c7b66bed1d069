import CausewayURLLoading
import Foundation
import Testing

/// A test double of a WebSocket task, as in the tests of programs.
private final class FakeWebSocketTask: URLSessionWebSocketTask, @unchecked Sendable {
    override func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        completionHandler(.success(.string("fake")))
    }

    override func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        completionHandler(nil)
    }
}

/// Describes a close code, as a program might do it.
private func describe(_ code: URLSessionWebSocketTask.CloseCode) -> String {
    switch code {
    case .invalid: "open"
    case .normalClosure, .goingAway: "closed"
    case .protocolError, .unsupportedData, .noStatusReceived, .abnormalClosure, .invalidFramePayloadData,
        .policyViolation, .messageTooBig, .mandatoryExtensionMissing, .internalServerError, .tlsHandshakeFailure:
        "failed"
    case .other(let number): "other \(number)"
    }
}

@Suite("Programs with WebSocket tasks")
struct WebSocketProgramTests {
    @Test("A double overrides the methods with completion handlers, and the async forms use them")
    func double() async throws {
        let task = FakeWebSocketTask()
        try await task.send(.data(Data([1])))
        guard case .string(let text) = try await task.receive() else {
            Issue.record("no text")
            return
        }
        #expect(text == "fake")
        task.maximumMessageSize = 5
        #expect(task.maximumMessageSize == 5)
        #expect(task.closeCode == .invalid && task.closeReason == nil)
        await #expect(throws: URLError.self) { try await task.sendPing() }
        task.cancel(with: .normalClosure, reason: nil)
    }

    @Test("Close codes by name and by number")
    func codes() {
        #expect(describe(.invalid) == "open")
        #expect(describe(URLSessionWebSocketTask.CloseCode(rawValue: 1001) ?? .invalid) == "closed")
        #expect(describe(URLSessionWebSocketTask.CloseCode(rawValue: 4000)!) == "other 4000")
        #expect(describe(.tlsHandshakeFailure) == "failed")
    }
}
