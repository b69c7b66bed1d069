import CausewayProtocols
import Testing

@testable import CausewayHTTPProtocols

@Suite("The credentials of a load")
struct LoadCredentialsTests {
    private let origin = HTTPOrigin(isSecure: true, host: "a.example")
    private let password = PasswordCredential(username: "u", password: "p")

    /// Returns the first authentication offer for a challenge.
    private func offer(
        _ credentials: inout LoadCredentials, _ challenge: String
    ) throws -> (offer: AuthenticationAttempts.Offer, refused: ProtectionSpace?) {
        let (step, refused) = credentials.refused(by: origin, challenges: [challenge])
        guard case .offer(let offers) = step else {
            Issue.record("no offer, but \(step)")
            throw CancellationError()
        }
        return (try #require(offers.first), refused)
    }

    @Test("The answer to a challenge is sent once")
    func sendsFieldOnce() throws {
        var credentials = LoadCredentials()
        let (offer, refused) = try self.offer(&credentials, "Basic realm=\"r\"")
        #expect(refused == nil)
        credentials.answered(in: offer.space, with: "Basic x", password: password)
        let fields = [credentials.takeField(), credentials.takeField()]
        #expect(fields == ["Basic x", nil])
        #expect(credentials.space == offer.space)
    }

    @Test("A refusal names the refused credential once, and is counted")
    func namesRefused() throws {
        var credentials = LoadCredentials()
        let first = try self.offer(&credentials, "Basic realm=\"r\"")
        credentials.answered(in: first.offer.space, with: "Basic x", password: password)
        let second = try self.offer(&credentials, "Basic realm=\"r\"")
        #expect(second.refused == first.offer.space)
        #expect(second.offer.failureCount == 1)
        let third = try self.offer(&credentials, "Basic realm=\"r\"")
        #expect(third.refused == nil)
    }

    @Test("A credential that the server has accepted before can be refused as well")
    func countsKnown() throws {
        var credentials = LoadCredentials()
        let space = ProtectionSpace(authority: .origin(origin), realm: "r", scheme: "basic")
        credentials.sent(in: space)
        let (offer, refused) = try self.offer(&credentials, "Basic realm=\"r\"")
        #expect(refused == space)
        #expect(offer.failureCount == 1)
        #expect(credentials.password == nil)
    }

    @Test("A stale nonce is answered with the same password")
    func keepsPassword() throws {
        var credentials = LoadCredentials()
        let (offer, _) = try self.offer(&credentials, "Digest realm=\"r\", nonce=\"1\"")
        credentials.answered(in: offer.space, with: "Digest x", password: password)
        let (step, refused) = credentials.refused(
            by: origin, challenges: ["Digest realm=\"r\", nonce=\"2\", stale=true"])
        guard case .renew = step else {
            Issue.record("no renewal, but \(step)")
            return
        }
        #expect(refused == offer.space)
        #expect(credentials.password == password)
    }

    @Test("The refusals of one load are limited")
    func limitsRefusals() throws {
        var credentials = LoadCredentials()
        for _ in 0..<AuthenticationAttempts.defaultLimit { _ = try self.offer(&credentials, "Basic realm=\"r\"") }
        let (step, _) = credentials.refused(by: origin, challenges: ["Basic realm=\"r\""])
        #expect(step == .deliver)
    }
}
