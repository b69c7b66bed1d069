import CausewayTLS
import CausewayTypes
import Testing

@Suite("Sharing between threads")
struct SharingTests {
    @Test("Contexts, sessions, stores and certificates serve many tasks at once")
    func tasks() async throws {
        let client = try TLSContext(.client())
        let server = try TLSContext(.server())
        let resumed = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var resumed = 0
                    for _ in 0..<20 {
                        let pair = try EnginePair(client, server)
                        pair.run()
                        guard pair.isEstablished else { throw TLSFailure(.library, "\(pair.clientProgress)") }
                        _ = pair.client.readAll()
                        if pair.client.negotiation?.isResumed == true { resumed += 1 }
                        _ = pair.client.negotiation?.peerCertificates.first?.subject
                    }
                    return resumed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(resumed > 100)
    }
}
