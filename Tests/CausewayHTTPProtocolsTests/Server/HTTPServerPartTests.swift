import CausewayProtocols
import Testing

@testable import CausewayHTTPProtocols

@Suite("HTTP server: parts of the machine")
struct HTTPServerPartTests {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    @Test("The preface of HTTP/2 is found in pieces of any size", arguments: 1...25)
    func http2(piece: Int) {
        var decision = HTTPVersionDecision()
        let bytes = Self.preface + [9]
        var outcomes: [HTTPVersionDecision.Outcome] = []
        var rest = bytes[...]
        while !rest.isEmpty, (outcomes.last ?? .undecided) == .undecided {
            outcomes.append(decision.received(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        let count = min(bytes.count, (Self.preface.count + piece - 1) / piece * piece)
        #expect(outcomes.last == .http2(bytes[..<count]) && decision.isEmpty)
        #expect(outcomes.dropLast().allSatisfy { $0 == .undecided })
    }

    @Test("Bytes that differ from the preface belong to HTTP/1", arguments: ["GET /", "PRI * HTTP/1", "POST"])
    func http1(text: String) {
        var decision = HTTPVersionDecision()
        let bytes = Array(text.utf8)
        var outcome = HTTPVersionDecision.Outcome.undecided
        var count = 0
        while outcome == .undecided, count < bytes.count {
            outcome = decision.received(bytes[count...count])
            count += 1
        }
        #expect(outcome == .http1(bytes[..<count]) && decision.isEmpty)
    }

    @Test("The end of a tunnel follows its last bytes, once")
    func tunnel() {
        var tunnel = HTTP1Tunnel(ByteChain([1, 2, 3]), hasEnded: true)
        #expect(!tunnel.wantsInput(upTo: 100))
        let early = tunnel.takeEnd()
        let pieces = [tunnel.takeInput(atMost: 2), tunnel.takeInput(atMost: 2), tunnel.takeInput(atMost: 2)]
        let ends = [tunnel.takeEnd(), tunnel.takeEnd()]
        #expect(!early && pieces == [[1, 2], [3], nil] && ends == [true, false])
    }

    @Test("Output that the client does not accept counts before the input that it does not send")
    func expiry() {
        var times = HTTPServerTimes(HTTPServerLimits(), at: .zero)
        #expect(times.earliestDeadline == .seconds(20) && times.expiry(at: .seconds(19)) == nil)
        #expect(times.waitStart == .zero && times.expiry(at: .seconds(20)) == .input)
        times.sending()
        times.settle(.busy, awaitsContent: true, isBlocked: false, at: .zero)
        #expect(times.waitStart == nil && times.expiry(at: .seconds(20)) == .output)
        times.sent(0, hasMore: false, at: .seconds(1))
        times.settle(.idle, awaitsContent: false, isBlocked: false, at: .seconds(1))
        #expect(times.earliestDeadline == .seconds(76) && times.expiry(at: .seconds(76)) == .idle)
    }

    @Test("The limit of requests also counts refused ones, and a shutdown starts once")
    func admission() {
        var limits = HTTPServerLimits()
        limits.requestCount = 2
        var admission = HTTPServerAdmission(limits)
        let isLast = [admission.requested(), admission.requested()]
        let starts = [admission.shutDown(), admission.shutDown()]
        #expect(isLast == [false, true] && starts == [true, false])
        #expect(admission.count == 2 && admission.isShuttingDown)
    }
}
