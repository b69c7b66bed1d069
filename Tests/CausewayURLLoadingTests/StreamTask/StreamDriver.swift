import Causeway
import Foundation

@testable import CausewayURLLoading

/// Runs a stream task's state machine over an in-memory connection with a virtual clock.
struct StreamDriver {
    var conversation: StreamConversation
    /// The calls that were made to the program and to the task, as text.
    let log = Notes()
    private(set) var now = Duration.zero
    /// The bytes that the task has sent, as text. A `.` marks the end of the stream.
    private(set) var sent = ""
    /// The number of bytes that the pending receive call requests. `nil` if no call is pending.
    private(set) var wanted: Int?
    /// Whether the simulated network accepts sent bytes at once. If `false`, the test accepts them later.
    var processesAtOnce = true
    private var unprocessed: [Int] = []
    private(set) var alarms: [Duration] = []
    /// Whether the simulated network withdraws a recalled receive. If `false`, the bytes are already on their way.
    var recalls = true
    private(set) var handedOver: String?

    init(handshakeLimit: TimeInterval = 0, isOpen: Bool = true) {
        conversation = StreamConversation(handshakeLimit: handshakeLimit)
        conversation.setPaused(false, at: .zero)
        if isOpen { open() }
        settle()
    }

    var noticed: [String] { log.all }

    mutating func open() { change { $0.opened(at: $1) } }

    // MARK: The program

    mutating func read(_ minimum: Int, _ maximum: Int, _ name: String = "read", timeout: TimeInterval = 0) {
        let handler: StreamRead.Handler = { [log] data, isAtEnd, error in
            let text = data.map { String(decoding: $0, as: UTF8.self) } ?? "-"
            log.append("\(name) \(error.map(Self.text) ?? text)\(isAtEnd ? " end" : "")")
        }
        change { $0.read(minimum, maximum, timeout: timeout, handler, at: $1) }
    }

    mutating func write(_ text: String, timeout: TimeInterval = 0) {
        let name = text.count > 10 ? "\(text.count)" : text
        let handler: StreamWrite.Handler = { [log] error in
            log.append("wrote \(name)\(error.map { " " + Self.text($0) } ?? "")")
        }
        change { $0.write(Data(text.utf8), timeout: timeout, handler, at: $1) }
    }

    mutating func change(_ body: (inout StreamConversation, Duration) -> Void) {
        body(&conversation, now)
        settle()
    }

    // MARK: The connection

    mutating func arrive(_ text: String, isEnd: Bool = false, error: NWError? = nil) {
        wanted = nil
        change { $0.arrived(ByteArrival(Data(text.utf8), isEnd: isEnd, error: error), at: $1) }
    }

    /// Reports that the oldest sent piece was processed, with an optional error.
    mutating func process(_ error: NWError? = nil) {
        let count = unprocessed.removeFirst()
        change { $0.sent(count, error, at: $1) }
    }

    mutating func wait(_ seconds: Double) {
        now += .seconds(seconds)
        guard alarms.contains(where: { $0 <= now }) else { return }
        alarms.removeAll { $0 <= now }
        change { $0.advance(to: $1) }
    }

    private mutating func settle() {
        while !conversation.actions.isEmpty {
            let actions = conversation.actions
            conversation.actions = []
            for action in actions { perform(action) }
        }
    }

    private mutating func perform(_ action: StreamConversation.Action) {
        switch action {
        case .receive(let limit): wanted = limit
        case .recall:
            if recalls { wanted = nil }
            conversation.recalled(recalls, at: now)
        case .send(let content, let isFinal):
            sent += isFinal ? "." : String(decoding: content, as: UTF8.self)
            unprocessed.append(content.count)
            if processesAtOnce { process() }
        case .secure(let unread, let isAtEnd), .capture(let unread, let isAtEnd):
            handedOver = String(decoding: unread, as: UTF8.self) + (isAtEnd ? "." : "")
        case .call(let body): body()
        case .reportReadClosed: log.append("read closed")
        case .reportWriteClosed: log.append("write closed")
        case .wake(let time): alarms.append(time)
        case .end(let error):
            log.append("ended\(error.map { " " + Self.text($0) } ?? "")")
            conversation.end((error as? LoadFailure)?.urlError(for: nil) ?? error)
        case .disconnect(let isInterrupted): log.append(isInterrupted ? "aborted" : "disconnected")
        }
    }

    static func text(_ error: any Error) -> String {
        switch (error as? LoadFailure)?.urlError(for: nil).code ?? (error as? URLError)?.code {
        case .cancelled: "cancelled"
        case .timedOut: "timed out"
        case .networkConnectionLost: "lost"
        case .secureConnectionFailed: "insecure"
        default: "\(error)"
        }
    }
}
