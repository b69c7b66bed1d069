import CausewayPeers
import Foundation
import Testing

@testable import MultipeerConnectivity

@Suite("MCError")
struct MCErrorTests {
    @Test("Numbers, domain and user info are those of Apple's error")
    func contents() {
        let codes: [MCError.Code] = [
            .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled, .unavailable,
        ]
        #expect(codes.map(\.rawValue) == Array(0...6))
        let error = MCError(.timedOut, userInfo: ["key": "value"])
        #expect(
            error.errorCode == 4 && MCError.errorDomain == "MCErrorDomain"
                && error.userInfo["key"] as? String == "value")
        #expect(error == MCError(.timedOut, userInfo: ["key": "value"]) && error != MCError(.timedOut))
        let bridged = error as NSError
        #expect(bridged.domain == "MCErrorDomain" && bridged.code == 4 && bridged.userInfo["key"] as? String == "value")
    }

    @Test("Every failure of the engine becomes an error with a reason")
    func failures() {
        for number in Array(0...11) + Array(256...261) {
            let error: any Error = MCError(PeerFailure(PeerFailure.Code(UInt16(number))))
            let cast = error as! MCError?
            #expect(cast?.localizedDescription.isEmpty == false)
        }
        #expect(MCError(PeerFailure(.left)).code == .notConnected)
        #expect(MCError(PeerFailure(.timedOut)).code == .timedOut)
        #expect(MCError(PeerFailure(.congested)).code == .unavailable)
        #expect(MCError(PeerFailure(.excess)).code == .unavailable)
        #expect(MCError(PeerFailure(.cancelled)).code == .cancelled)
        #expect(MCError(PeerFailure(.unsupported)).code == .unsupported)
        #expect(MCError(PeerFailure(.invalid)).code == .invalidParameter)
    }
}
