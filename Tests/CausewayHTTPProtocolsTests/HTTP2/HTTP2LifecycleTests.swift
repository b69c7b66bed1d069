import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("HTTP/2: the life of a connection (RFC 9113 §3.4, §6.8)")
struct HTTP2LifecycleTests {
    private func frames(_ output: inout HTTP2Output) throws -> [HTTP2Frame] {
        var reader = HTTP2FrameReader()
        reader.append(output.takeControl()[...])
        var frames: [HTTP2Frame] = []
        while case .frame(_, let frame)? = try reader.next() { frames.append(frame) }
        return frames
    }

    @Test("The preface may arrive in pieces of any size", arguments: 1...27)
    func preface(piece: Int) throws {
        var life = HTTP2Lifecycle(.server)
        var rest = (HTTP2Connection.preface + [1, 2, 3])[...]
        var after: [UInt8] = []
        while !rest.isEmpty {
            after += try life.matchPreface(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        #expect(after == [1, 2, 3])
        let isFirst = [life.receivedSettings(), life.receivedSettings()]
        #expect(isFirst == [true, false] && life.isOpen)
    }

    @Test("A server sends two GOAWAY frames when it shuts down")
    func shutdown() throws {
        var life = HTTP2Lifecycle(.server)
        var output = HTTP2Output()
        _ = try life.matchPreface(HTTP2Connection.preface[...])
        _ = life.receivedSettings()
        life.shutDown(after: 5, until: .seconds(9), &output)
        #expect(!life.mayEnd && !life.acceptsStreams && life.shutdownDeadline == .seconds(9))
        life.finishShutdown(after: 7, &output)
        life.finishShutdown(after: 9, &output)
        #expect(life.mayEnd && life.lastAcceptedID == 7)
        let sent = try frames(&output)
        let expected: [HTTP2Frame] = [
            .goAway(lastStreamID: .largestStream, .noError), .ping(HTTP2Pings.shutdownToken),
            .goAway(lastStreamID: 7, .noError),
        ]
        #expect(sent == expected)
        let ends = [life.ended(), life.ended()]
        #expect(ends == [true, false] && life.hasEnded)
    }

    @Test("The last stream of an error does not exceed that of an earlier GOAWAY frame")
    func interruption() throws {
        var life = HTTP2Lifecycle(.client)
        var output = HTTP2Output()
        life.finishAccepting(after: 3, &output)
        life.interrupt(.cancel, "why", after: 9, &output)
        let sent = try frames(&output)
        #expect(sent.last == .goAway(lastStreamID: 3, .cancel, debugData: Array("why".utf8)[...]))
    }

    @Test("A peer cannot raise the last stream of its GOAWAY frame")
    func peer() throws {
        var life = HTTP2Lifecycle(.client)
        try life.receivedGoAway(5, .noError, [])
        try life.receivedGoAway(3, .internalError, [1])
        #expect(throws: HTTP2Violation.self) { try life.receivedGoAway(5, .noError, []) }
        #expect(life.peerFailure == .goAway(.internalError, debugData: [1]) && life.mayEnd)
    }
}
