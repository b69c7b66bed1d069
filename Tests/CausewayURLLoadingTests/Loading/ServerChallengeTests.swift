import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Challenges of servers")
struct ServerChallengeTests {
    private let basic = #"Basic realm="r""#
    private let user = URLCredential(user: "u", password: "p", persistence: .none)
    /// The `Authorization` field value for the user name `u` and the password `p`.
    private let answer = "Basic dTpw"

    private func challenged(_ load: FakeLoad) { ServerChallenge(load: load, response: load.response).answer() }

    @Test("The program's credential is sent once; a second answer changes nothing")
    func credential() {
        let load = FakeLoad(challenges: [basic])
        challenged(load)
        #expect(load.challenges.first?.protectionSpace.realm == "r")
        #expect(load.challenges.first?.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(load.challenges.first?.failureResponse === load.response)
        load.answer(.useCredential, user)
        load.answer(.cancelAuthenticationChallenge)
        #expect(load.steps == [.sent(answer)])
        #expect(load.withAccess { $0.accepted?.0.user } == "u")
        #expect(load.withAccess { $0.takeAuthorization().field } == nil)
    }

    @Test("A refused credential leads to another question, which counts the failures, and is not accepted")
    func refused() {
        let load = FakeLoad(challenges: [basic])
        challenged(load)
        load.answer(.useCredential, user)
        load.hold()
        challenged(load)
        #expect(load.challenges.map(\.previousFailureCount) == [0, 1])
        #expect(load.withAccess { $0.accepted == nil })
        load.answer(.performDefaultHandling)
        #expect(load.steps == [.sent(answer), .delivered])
    }

    @Test("The credential of the URL is used by default, once")
    func credentialOfURL() {
        let load = FakeLoad("https://u:p@example.com/a", challenges: [basic])
        challenged(load)
        #expect(load.challenges.first?.proposedCredential?.user == "u")
        load.answer(.performDefaultHandling)
        load.hold()
        challenged(load)
        load.answer(.performDefaultHandling)
        #expect(load.steps == [.sent(answer), .delivered])
    }

    @Test("A rejected space leads to the next challenge, then to the response")
    func rejected() {
        let load = FakeLoad(challenges: [#"Digest realm="d", nonce="n", algorithm=SHA-256"#, basic])
        challenged(load)
        load.answer(.rejectProtectionSpace)
        load.answer(.rejectProtectionSpace)
        #expect(
            load.challenges.map(\.protectionSpace.authenticationMethod)
                == [NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodHTTPBasic])
        #expect(load.steps == [.delivered])
    }

    @Test("A stale Digest nonce is answered without a question")
    func stale() throws {
        let load = FakeLoad(challenges: [#"Digest realm="d", nonce="n", algorithm=SHA-256"#])
        challenged(load)
        load.answer(.useCredential, user)
        load.hold()
        var fields = FieldSection()
        fields.append("WWW-Authenticate", #"Digest realm="d", nonce="m", algorithm=SHA-256, stale=true"#)
        let stale = HTTPURLResponse(
            url: load.request.url, statusCode: 401, version: "HTTP/1.1", fields: fields, isDecoded: false)
        ServerChallenge(load: load, response: stale).answer()
        #expect(load.challenges.count == 1 && load.steps.count == 2)
        guard case .sent(let field?) = try #require(load.steps.last) else { return #expect(Bool(false)) }
        #expect(field.contains(#"nonce="m""#))
    }

    @Test("A cancelled challenge fails the load, and a credential without a user delivers the response")
    func ends() {
        let cancelled = FakeLoad(challenges: [basic])
        challenged(cancelled)
        cancelled.answer(.cancelAuthenticationChallenge)
        #expect(cancelled.steps == [.failed(.cancelled)])
        let empty = FakeLoad(challenges: [basic])
        challenged(empty)
        empty.answer(.useCredential, nil)
        #expect(empty.steps == [.delivered])
    }

    @Test("Unknown schemes deliver the response without a question; without a realm, the host is the realm")
    func schemes() {
        let unknown = FakeLoad(challenges: [#"Bearer realm="b""#])
        challenged(unknown)
        #expect(unknown.challenges.isEmpty && unknown.steps == [.delivered])
        let nameless = FakeLoad(challenges: ["Basic"])
        challenged(nameless)
        #expect(nameless.challenges.first?.protectionSpace.realm == "example.com")
    }

    @Test("A load that ended takes no answer")
    func ended() {
        let load = FakeLoad(challenges: [basic])
        challenged(load)
        load.fail(LoadFailure(.timedOut))
        load.answer(.useCredential, user)
        #expect(load.steps == [.failed(.timedOut)])
    }
}
