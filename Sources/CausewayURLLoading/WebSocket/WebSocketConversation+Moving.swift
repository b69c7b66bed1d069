internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewayWire
internal import DequeModule
internal import Foundation

extension WebSocketConversation {
    /// The messages, pings and the close frame to send.
    struct Sending: Sendable {
        enum Item: Sendable {
            case message(Message)
            /// A ping. The number determines its payload and is its key in ``Sending/pings``.
            case ping(UInt64)
            case close(WebSocketClosing)
        }

        struct Entry: Sendable {
            var item: Item
            var handler: SendHandler?
        }

        /// The messages and control frames that were not yet passed to the ``WebSocketMachine``. Entries are passed one
        /// at a time, so that the end of each entry in the output bytes is known.
        var waiting: Deque<Entry> = []
        /// Whether the close frame was written. Nothing is sent after it.
        var isClosed = false
        /// The send handler for the message that is being written.
        var current: SendHandler?
        /// Send handlers for messages that were written. Each handler is called when the number of processed bytes
        /// reaches `end`.
        var written: Deque<(end: Int, handler: SendHandler)> = []
        /// The number of bytes passed to the network.
        var passed = 0
        /// The number of bytes in `passed` whose send operation has completed, successfully or with an error.
        var processed = 0
        /// The completion handlers of pings that await a pong, by ping number.
        var pings: [UInt64: SendHandler] = [:]
        var lastPing: UInt64 = 0

        /// Removes and returns the handlers of all operations, in order.
        mutating func takeHandlers() -> [SendHandler] {
            let messages = written.map(\.handler) + [current.take()].compactMap { $0 } + waiting.compactMap(\.handler)
            let unanswered = pings.sorted { $0.key < $1.key }.map(\.value)
            (written, waiting, pings) = ([], [], [:])
            return messages + unanswered
        }
    }

    /// The received messages.
    struct Receiving: Sendable {
        var handlers: Deque<MessageHandler> = []
        private var messages: Deque<Message> = []
        /// The bytes received so far of an incomplete message.
        private var partial = Data()
        /// The size in bytes of all complete messages that the program has not received yet. Each message counts with
        /// an additional ``WebSocketConversation/messageCost``.
        private var count = 0

        /// Whether to receive and decode more frames. This is the case if the program waits for a message. It is also
        /// the case if the unread messages take less memory than ``WebSocketConversation/unreadLimit``.
        var hasRoom: Bool { !handlers.isEmpty || count + partial.count < WebSocketConversation.unreadLimit }

        /// Adds a part of a message.
        mutating func append(_ opcode: WebSocketOpcode, _ part: ByteChain, endsMessage: Bool) {
            var part = part
            while let piece = part.popPiece() { partial.append(contentsOf: piece) }
            guard endsMessage else { return }
            let message: Message = opcode == .text ? .string(String(decoding: partial, as: UTF8.self)) : .data(partial)
            partial = Data()
            messages.append(message)
            count += Self.cost(message)
        }

        mutating func takeMessage() -> Message? {
            guard let message = messages.popFirst() else { return nil }
            count -= Self.cost(message)
            return message
        }

        mutating func removeMessages() { (messages, partial, count) = ([], Data(), 0) }

        mutating func takeHandlers() -> [MessageHandler] {
            defer { handlers = [] }
            return Array(handlers)
        }

        private static func cost(_ message: Message) -> Int {
            switch message {
            case .string(let text): text.utf8.count + WebSocketConversation.messageCost
            case .data(let data): data.count + WebSocketConversation.messageCost
            }
        }
    }

    // MARK: The connection

    mutating func arrived(_ arrival: HTTPArrival) {
        link.isReceiving = false
        if let content = arrival.content, !content.isEmpty { machine.received(ByteChain(Array(content))) }
        if let error = arrival.error { link.error = link.error ?? error }
        if arrival.isEnd || arrival.error != nil { machine.inputEnded() }
        pump()
    }

    mutating func sent(_ count: Int, _ error: NWError?) {
        sending.processed += count
        reportSent(error)
        if let error {
            link.error = link.error ?? error
            // If a receive operation is pending, it first delivers the bytes that arrived earlier, and then reports the
            // end itself. So report the end here only if no receive operation is pending.
            if !link.isReceiving { machine.inputEnded() }
        }
        pump()
    }

    /// Performs all steps that are possible now: decodes and sends frames, and receives bytes.
    mutating func pump() {
        guard link.isUp else { return }
        decode()
        flush()
        receiveMore()
        disconnectIfDone()
    }

    /// Whether to decode frames now. After the task has ended, frames are still decoded, but their content is
    /// discarded.
    private var wantsFrames: Bool {
        switch phase {
        case .connecting: false
        case .open: !link.isPaused && receiving.hasRoom
        case .closing, .ended: true
        }
    }

    private mutating func decode() {
        while wantsFrames, let event = machine.nextEvent(atMost: Self.pieceSize) { handle(event) }
    }

    private mutating func handle(_ event: WebSocketMachine.Event) {
        switch event {
        case .content(let opcode, let part, let endsMessage):
            guard phase == .open else { return }
            receiving.append(opcode, part, endsMessage: endsMessage)
            if endsMessage, !receiving.handlers.isEmpty { deliver() }
        case .pingAnswered(let number):
            if let handler = sending.pings.removeValue(forKey: number) { actions.append(.call { handler(nil) }) }
        case .pingLost(let number):
            // If the connection has ended, do not call the handler here. The method ``end(_:)`` calls all handlers with
            // the task's error.
            guard !machine.hasEnded, let handler = sending.pings.removeValue(forKey: number) else { return }
            actions.append(.call { handler(POSIXError(.ENOBUFS)) })
        case .closed(let frame): peerClosed(frame)
        case .ended(let failure?): failed(failure)
        case .ended(nil): endTask(nil)
        case .requested, .opened, .ping, .pong: break
        }
    }

    private mutating func deliver() {
        guard let message = receiving.takeMessage(), let handler = receiving.handlers.popFirst() else { return }
        actions.append(.call { handler(.success(message)) })
    }

    private mutating func flush() {
        guard phase != .open || !link.isPaused else { return }
        while sending.passed - sending.processed < Self.outputLimit {
            if let output = machine.nextOutput(atMost: Self.pieceSize) {
                sending.passed += output.count
                actions.append(.send(Self.data(output)))
                continue
            }
            if let handler = sending.current.take() { sending.written.append((sending.passed, handler)) }
            guard phase != .ended, !sending.isClosed, let next = sending.waiting.popFirst() else { break }
            write(next)
        }
        reportSent(nil)
    }

    private mutating func write(_ entry: Sending.Entry) {
        sending.current = entry.handler
        switch entry.item {
        case .message(.string(let text)): machine.send(.text, ByteChain(Array(text.utf8)))
        case .message(.data(let data)): machine.send(.binary, ByteChain(Array(data)))
        case .ping(let number):
            // A peer that receives several pings can answer only the latest one (RFC 6455 §5.5.3). Each ping has a
            // different payload, so that the pong shows which ping it answers.
            machine.sendPing((0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }, token: number)
        case .close(let frame):
            machine.close(frame)
            sending.isClosed = true
        }
    }

    /// Calls the handlers of finished messages. A message is finished when all its bytes have been sent, or when
    /// `error` prevented this.
    private mutating func reportSent(_ error: NWError?) {
        while let first = sending.written.first, first.end <= sending.processed {
            sending.written.removeFirst()
            let failure = error.map { LoadFailure(.connectionLost, underlying: $0).urlError(for: nil) }
            actions.append(.call { first.handler(failure) })
        }
    }

    private mutating func receiveMore() {
        guard !link.isReceiving, wantsFrames, !machine.hasEnded, link.error == nil else { return }
        link.isReceiving = true
        actions.append(.receive(Self.pieceSize))
    }

    private mutating func disconnectIfDone() {
        guard machine.hasEnded else { return }
        let isBroken = link.error != nil
        guard isBroken || machine.isFinished && sending.passed == sending.processed else { return }
        link.isUp = false
        actions.append(.disconnect(isInterrupted: isBroken))
    }

    private static func data(_ bytes: ByteChain) -> Data {
        var (data, rest) = (Data(capacity: bytes.count), bytes)
        while let piece = rest.popPiece() { data.append(contentsOf: piece) }
        return data
    }
}
