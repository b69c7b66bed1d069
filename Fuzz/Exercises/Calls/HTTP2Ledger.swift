internal import CausewayWire

/// Checks an HTTP/2 connection from the peer's point of view. Records what the connection may send, and what it permits
/// the peer to send.
struct HTTP2Ledger {
    /// What the connection has sent on one stream so far.
    private struct Stream {
        var sent = 0
        var content = NumberedContent()
        var hasEnded = false
        var isReset = false
    }

    private var input = HTTP2FrameReader()
    private var output = HTTP2FrameReader()
    private var decoder = HPACKDecoder()
    /// The HPACK table sizes in SETTINGS frames that the connection has not acknowledged yet.
    private var tableSizes: [Int?] = []
    private var settings = HTTP2Settings()
    private var isInputValid = true
    private let isClient: Bool
    private let connectionWindow: Int
    private let streamGrowth: Int
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var (connectionCredit, connectionSent) = (65_535, 0)
    private var streamCredit: [HTTP2StreamID: Int] = [:]
    /// The content that the peer sent, and the credit for it. The key is the stream identifier, or 0 for the
    /// connection.
    private var arrived: [HTTP2StreamID: Int] = [:]
    private var credit: [HTTP2StreamID: Int] = [:]
    private var lastStreamID = HTTP2StreamID.largestStream
    private var prefaceCount = 0
    private var block: (id: HTTP2StreamID, bytes: [UInt8], endsStream: Bool)?

    /// - Parameters:
    ///   - isClient: Whether the connection is that of a client.
    ///   - streamGrowth: How far the window of a stream can grow, in bytes.
    init(isClient: Bool, connectionWindow: Int, streamGrowth: Int) {
        self.isClient = isClient
        self.streamGrowth = streamGrowth
        self.connectionWindow = max(65_535, connectionWindow)
        decoder.limits.listSize = 1 << 20
    }

    /// Records bytes that the peer has sent.
    mutating func sent(_ bytes: [UInt8]) {
        input.append(bytes[...])
        while isInputValid {
            do {
                guard let item = try input.next() else { return }
                sent(item)
            } catch {
                if error.scope == .connection { isInputValid = false }
            }
        }
    }

    private mutating func sent(_ item: HTTP2FrameReader.Item) {
        switch item {
        case .data(let piece):
            for id in [0, piece.streamID] { arrived[id, default: 0] += piece.flowControlledCount }
        case .frame(_, .settings(let new)):
            let before = settings
            for setting in new where isInputValid { if (try? settings.apply(setting)) == nil { isInputValid = false } }
            tableSizes.append(before.headerTableSize == settings.headerTableSize ? nil : settings.headerTableSize)
        case .frame(let header, .windowUpdate(let increment)):
            if header.streamID == 0 {
                connectionCredit += Int(increment)
            } else {
                streamCredit[header.streamID, default: 0] += Int(increment)
            }
        case .frame: break
        }
    }

    /// Checks bytes that the connection has sent.
    mutating func received(_ bytes: [UInt8]) {
        let preface = isClient ? min(bytes.count, 24 - prefaceCount) : 0
        prefaceCount += preface
        output.append(bytes[preface...])
        do {
            while let item = try output.next() { received(item) }
        } catch {
            preconditionFailure("the output is invalid: \(error)")
        }
    }

    private mutating func received(_ item: HTTP2FrameReader.Item) {
        switch item {
        case .data(let piece): received(piece)
        case .frame(let header, let frame): received(frame, on: header.streamID)
        }
    }

    private mutating func received(_ piece: HTTP2DataPiece) {
        guard var stream = streams[piece.streamID] else { preconditionFailure("content before the head") }
        precondition(block == nil && !stream.hasEnded && !stream.isReset, "content after the end")
        stream.sent += piece.flowControlledCount
        connectionSent += piece.flowControlledCount
        let credit = settings.initialWindowSize + streamCredit[piece.streamID, default: 0]
        precondition(
            piece.flowControlledCount == 0 || stream.sent <= credit, "more content than the window of the stream")
        precondition(connectionSent <= connectionCredit, "more content than the window of the connection")
        stream.content.check(piece.bytes)
        if piece.isLast, piece.endsStream { stream.hasEnded = true }
        streams[piece.streamID] = stream
    }

    private mutating func received(_ frame: HTTP2Frame, on id: HTTP2StreamID) {
        switch frame {
        case .headers(let headers): began(id, Array(headers.fragment), headers.endsStream, isWhole: headers.endsHeaders)
        case .continuation(let fragment, let endsHeaders):
            guard let (first, bytes, endsStream) = block.take(), first == id else {
                preconditionFailure("CONTINUATION frame without a field block")
            }
            began(id, bytes + fragment, endsStream, isWhole: endsHeaders)
        case .windowUpdate(let increment): credited(Int(increment), id)
        case .resetStream: if streams[id] != nil { streams[id]?.isReset = true }
        case .goAway(let last, _, _):
            precondition(last <= lastStreamID, "GOAWAY with a higher stream identifier than before")
            lastStreamID = last
        case .settingsAcknowledgment:
            precondition(!tableSizes.isEmpty, "an acknowledgment of nothing")
            if case .some(let size?) = tableSizes.first { decoder.setMaximumTableSize(size) }
            tableSizes.removeFirst()
        case .settings, .ping, .priorityUpdate: break
        case .data, .priority, .pushPromise, .unknown: preconditionFailure("an unexpected frame")
        }
    }

    private mutating func began(_ id: HTTP2StreamID, _ bytes: [UInt8], _ endsStream: Bool, isWhole: Bool) {
        precondition(block == nil, "a field block inside another")
        guard isWhole else { return block = (id, bytes, endsStream) }
        guard let decoded = try? decoder.decode(bytes.span) else { preconditionFailure("a field block is invalid") }
        precondition(!decoded.exceedsLimit)
        var stream = streams[id] ?? Stream()
        precondition(!stream.hasEnded && !stream.isReset, "a head after the end")
        stream.hasEnded = endsStream
        streams[id] = stream
    }

    private mutating func credited(_ increment: Int, _ id: HTTP2StreamID) {
        credit[id, default: 0] += increment
        // In addition, an endpoint may give credit for content that has not arrived yet. It does so once, to increase
        // the connection's window from 65,535 bytes to the configured size.
        let extra = id == 0 ? connectionWindow - 65_535 : streamGrowth
        precondition(
            credit[id, default: 0] <= arrived[id, default: 0] + extra, "credit for content that did not arrive")
    }
}
