import Causeway
import CausewayHTTP
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Foundation

@testable import CausewayURLLoading

/// A list of texts for a test's completion handlers to append to.
final class Notes: Sendable {
    private let list = LockedValue<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func append(_ text: String) { list.withLock { $0.append(text) } }
}

/// Runs a WebSocket conversation with a server in memory. This driver does what a task's channel does in a real
/// program.
struct ConversationDriver {
    var conversation = WebSocketConversation()
    /// The server's WebSocket state machine. The conversation answers the server's pings, and the server answers the
    /// conversation's pings.
    var server: WebSocketMachine
    /// The events that the program and the task received, as text.
    let log = Notes()
    /// What the server received, as text.
    private(set) var heard: [String] = []
    /// If a receive is pending, the number of bytes that it wants; otherwise `nil`.
    private(set) var wanted: Int?
    /// The number of bytes that were delivered to the WebSocket conversation.
    private(set) var deliveredCount = 0
    /// Whether the network processes sent bytes at once.
    var processesAtOnce = true
    /// The sizes of the pieces that were sent, but that the simulated network has not processed yet.
    private(set) var unprocessed: [Int] = []
    /// Received bytes arrive in pieces. This is the maximum size of a piece.
    var pieceLimit = Int.max
    private var arriving = Data()
    private var partial = Data()

    init(isOpen: Bool = true) {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        configuration.repliesToPings = true
        server = WebSocketMachine(.server, configuration: configuration)
        server.started()
        if isOpen { open() }
    }

    var noticed: [String] { log.all }

    mutating func open() {
        conversation.opened()
        settle()
    }

    // MARK: The program

    mutating func send(_ text: String) {
        conversation.send(.string(text)) { [log] error in log.append("sent \(text)\(Self.text(error))")
        }
        settle()
    }

    mutating func receive() {
        conversation.receive { [log] result in
            let text =
                switch result {
                case .success(.string(let text)): "text \(text)"
                case .success(.data(let data)): "data \(data.count)"
                case .failure(let error): "none\(Self.text(error))"
                }
            log.append(text)
        }
        settle()
    }

    mutating func ping() {
        conversation.ping { [log] error in log.append("pong\(Self.text(error))") }
        settle()
    }

    /// Returns a space and the name of the error. Returns an empty string if there is no error.
    static func text(_ error: (any Error)?) -> String {
        switch error {
        case nil: ""
        case let error as POSIXError: " \(error.code)"
        case let error as URLError: " \(error.code)"
        case let error as LoadFailure: " \(error.cause)"
        case let error?: " \(error)"
        }
    }

    // MARK: The server

    mutating func serverSends(_ opcode: WebSocketOpcode, _ bytes: [UInt8]) {
        server.send(opcode, ByteChain(bytes))
        settle()
    }

    mutating func serverSends(_ text: String) { serverSends(.text, Array(text.utf8)) }

    mutating func serverCloses(_ code: UInt16?, _ reason: String = "") {
        server.close(WebSocketClosing(code: code.map { WebSocketCloseCode(rawValue: $0) }, reason: reason))
        settle()
    }

    /// Delivers bytes that no correct peer would send.
    mutating func deliver(_ bytes: [UInt8]) {
        arriving += bytes
        settle()
    }

    /// Ends the connection.
    mutating func end(_ error: NWError? = nil) {
        wanted = nil
        conversation.arrived(HTTPArrival(isEnd: error == nil, error: error))
        settle()
    }

    // MARK: The network

    mutating func process() {
        let counts = unprocessed
        unprocessed = []
        for count in counts { conversation.sent(count, nil) }
        settle()
    }

    /// Performs actions and transfers bytes until nothing changes.
    mutating func settle() {
        repeat {
            let actions = conversation.actions
            conversation.actions = []
            for action in actions { perform(action) }
            listen()
        } while moveBytes() || !conversation.actions.isEmpty
    }

    private mutating func perform(_ action: WebSocketConversation.Action) {
        switch action {
        case .send(let data):
            server.received(ByteChain(Array(data)))
            if processesAtOnce { conversation.sent(data.count, nil) } else { unprocessed.append(data.count) }
        case .receive(let limit): wanted = limit
        case .call(let body): body()
        case .reportClosed(let report): note("closed \(Self.text(report))")
        case .end(let error):
            note("end\(Self.text(error))")
            conversation.stop()
            conversation.end(error)
        case .limitClosing: break
        case .disconnect(let isInterrupted): note(isInterrupted ? "abort" : "disconnect")
        }
    }

    static func text(_ report: WebSocketCloseReport?) -> String {
        report.map { "\($0.code.rawValue) \(String(decoding: $0.reason ?? Data(), as: UTF8.self))" } ?? "-"
    }

    private func note(_ text: String) { log.append(text) }

    private mutating func listen() {
        while let event = server.nextEvent() {
            switch event {
            case .content(let opcode, let part, let endsMessage):
                partial += part.bytes
                guard endsMessage else { continue }
                let text = String(decoding: partial, as: UTF8.self)
                heard.append(opcode == .text ? text : "data \(partial.count)")
                partial = Data()
            case .closed(let frame): heard.append("close \(frame.code?.rawValue ?? 0) \(frame.reason)")
            case .pong: heard.append("pong")
            case .requested, .opened, .ping, .pingAnswered, .pingLost, .ended: break
            }
        }
        while let output = server.nextOutput() { arriving += Data(output.bytes) }
    }

    private mutating func moveBytes() -> Bool {
        guard let limit = wanted, !arriving.isEmpty else { return false }
        let piece = Data(arriving.prefix(min(limit, pieceLimit)))
        arriving = Data(arriving.dropFirst(piece.count))
        wanted = nil
        deliveredCount += piece.count
        conversation.arrived(HTTPArrival(content: piece))
        return true
    }
}
