internal import Causeway
internal import Foundation

extension StreamConversation {
    // MARK: Results of the connection

    mutating func arrived(_ arrival: ByteArrival, at now: Duration) {
        guard phase != .ended else { return }
        input.isReceiving = false
        if !input.isClosed { input.buffer.append(arrival.content) }
        if let error = arrival.error {
            input.failure = input.failure ?? LoadFailure(.connectionLost, underlying: error)
        } else if arrival.isEnd {
            reportReadClosed()
            input.isAtEnd = true
        }
        resume(at: now)
    }

    mutating func recalled(_ isRecalled: Bool, at now: Duration) {
        guard phase != .ended else { return }
        // If `isRecalled` is `false`, the receive operation could not be withdrawn. It then stays pending until
        // ``arrived(_:at:)`` reports its result.
        if isRecalled { input.isReceiving = false }
        resume(at: now)
    }

    mutating func sent(_ count: Int, _ error: NWError?, at now: Duration) {
        guard phase != .ended else { return }
        output.isSending = false
        if let error {
            output.failure = output.failure ?? LoadFailure(.connectionLost, underlying: error)
            output.isClosed = true
            actions.append(.reportWriteClosed)
            // If a receive operation is pending, it first delivers the bytes that arrived earlier, and then reports the
            // failure itself. So store the failure here only if none is pending.
            if !input.isReceiving, !input.isAtEnd { input.failure = input.failure ?? output.failure }
        } else if output.failure == nil, !batches[0].writes.isEmpty {
            batches[0].writes[0].sent += count
            if case .close = batches[0].writes[0].kind {
                batches[0].writes.removeFirst()
                output.isClosed = true
                actions.append(.reportWriteClosed)
            }
        }
        pump(at: now)
    }

    /// Handles the end of the TLS handshake.
    mutating func secured(_ failure: LoadFailure?, at now: Duration) {
        guard phase == .securing else { return }
        if let failure { return endTask(failure) }
        isSecure = true
        phase = .open
        batches.removeFirst()
        pump(at: now)
    }

    private mutating func resume(at now: Duration) {
        if phase == .recalling, !input.isReceiving { phase = .open }
        pump(at: now)
    }

    /// Reports once that no more bytes can be read. Either the peer has ended its sending side, or the program has
    /// closed the receiving side.
    private mutating func reportReadClosed() {
        if !input.isAtEnd, !input.isClosed { actions.append(.reportReadClosed) }
    }

    // MARK: Progress

    /// Runs the queued read and write operations as far as possible.
    mutating func pump(at now: Duration) {
        checkLimits(at: now)
        if phase == .connecting {
            if input.failure != nil { serveReads() }
            if output.failure != nil { serveWrites() }
        }
        while phase == .open {
            serveReads()
            serveWrites()
            guard !isPaused, changeConnection() else { break }
        }
        if phase == .open {
            endIfClosed()
            receiveMore()
        }
        checkLimits(at: now)
        setAlarm()
    }

    private mutating func serveReads() {
        while !isPaused, let read = batches[0].reads.first {
            switch read.kind {
            case .close:
                reportReadClosed()
                input.isClosed = true
                input.buffer = Data()
            case .bytes(let minimum, let maximum, let handler):
                guard serve(minimum, maximum, handler) else { return }
            }
            batches[0].reads.removeFirst()
        }
    }

    /// Completes a read if enough bytes have arrived. Returns `false` if the read must wait.
    private mutating func serve(_ minimum: Int, _ maximum: Int, _ handler: @escaping StreamRead.Handler) -> Bool {
        let isLast = input.isAtEnd || input.isClosed
        if input.failure?.cause == .timedOut || input.failure != nil && input.buffer.count < max(minimum, 1) {
            input.buffer = Data()
            call(handler, input.failure?.urlError(for: nil))
            return true
        }
        guard input.buffer.count >= minimum || isLast else { return false }
        let piece = Data(input.buffer.prefix(maximum))
        input.removeFirst(piece.count)
        let isAtEnd = isLast && input.buffer.isEmpty
        if isAtEnd { input.wasEndRead = true }
        actions.append(.call { handler(piece.isEmpty && maximum > 0 ? nil : piece, isAtEnd, nil) })
        return true
    }

    private mutating func serveWrites() {
        while !isPaused, let write = batches[0].writes.first {
            if let failure = output.isClosed || output.failure != nil ? closedFailure : nil {
                if case .bytes(_, let handler) = write.kind { call(handler, failure.urlError(for: nil)) }
                batches[0].writes.removeFirst()
                continue
            }
            guard !output.isSending else { return }
            switch write.kind {
            case .close:
                output.isSending = true
                actions.append(.send(Data(), isFinal: true))
            case .bytes(let content, let handler):
                guard write.sent < content.count else {
                    actions.append(.call { handler(nil) })
                    batches[0].writes.removeFirst()
                    continue
                }
                output.isSending = true
                let rest = content.dropFirst(write.sent)
                actions.append(.send(Data(rest.prefix(Self.outputSize)), isFinal: false))
            }
        }
    }

    /// The error for writes after the sending side has closed.
    private var closedFailure: LoadFailure {
        output.failure ?? LoadFailure(.connectionLost, underlying: NWError.posix(.EPIPE))
    }

    /// Starts TLS or the conversion to streams, if that is the next operation. All earlier operations must be complete.
    /// Returns whether later operations can continue at once.
    private mutating func changeConnection() -> Bool {
        let batch = batches[0]
        guard let change = batch.change, batch.reads.isEmpty, batch.writes.isEmpty, !output.isSending else {
            return false
        }
        if let failure = input.failure ?? output.failure {
            endTask(failure)
            return false
        }
        if change == .secure, isSecure {
            batches.removeFirst()
            return true
        }
        if input.isReceiving {
            phase = .recalling
            actions.append(.recall)
            return false
        }
        let (unread, isAtEnd) = (Data(input.buffer), input.isAtEnd)
        input.buffer = Data()
        switch change {
        case .secure where input.isClosed || output.isClosed:
            endTask(LoadFailure(.handshakeFailed, underlying: NWError.posix(.ENOTCONN)))
        case .secure:
            phase = .securing
            actions.append(.secure(unread: unread, isAtEnd: isAtEnd))
        case .capture:
            phase = .ended
            actions.append(.capture(unread: unread, isAtEnd: isAtEnd))
        }
        return false
    }

    /// Ends the task when both directions have ended. Also ends the task when the connection is broken and no operation
    /// is pending.
    private mutating func endIfClosed() {
        guard batches.allSatisfy({ $0.reads.isEmpty && $0.writes.isEmpty && $0.change == nil }) else { return }
        if let failure = input.failure, failure.cause != .timedOut, input.buffer.isEmpty { return endTask(failure) }
        let hasInputEnded = input.isClosed || input.wasEndRead
        if hasInputEnded, output.isClosed { endTask(output.failure) }
    }

    /// Receives bytes while the buffer is small, so that the peer's end of stream is noticed even if the program does
    /// not read.
    private mutating func receiveMore() {
        guard phase == .open, !isPaused, !input.isReceiving, !input.isAtEnd, !input.isClosed, input.failure == nil
        else { return }
        let wanted = max(Self.unreadLimit, batches[0].reads.first?.minimum ?? 0)
        let room = min(wanted - input.buffer.count, Self.inputSize)
        guard room > 0 else { return }
        input.isReceiving = true
        actions.append(.receive(room))
    }
}
