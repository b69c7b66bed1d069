import Foundation
import Testing

extension Interop {
    /// Tests the example program on two hosts that share a link. The hosts find each other with multicast DNS.
    @Suite("Peers on two hosts", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct PeerChatTests {
        enum Family: String, CaseIterable, Sendable {
            case both, four, linkLocalSix
        }

        private func prepare(_ family: Family, _ hosts: TwoHosts) throws {
            for ip in [hosts.ip, hosts.farIP] {
                switch family {
                case .both: break
                case .four: try ip("-6 address flush dev \(TwoHosts.link)")
                case .linkLocalSix:
                    try ip("-4 address flush dev \(TwoHosts.link)")
                    try ip("-6 address flush dev \(TwoHosts.link) scope global")
                }
            }
        }

        @Test("Both start, find and invite each other, chat, and one leaves", arguments: Family.allCases)
        func chat(_ family: Family) async throws {
            try await TwoHosts.run { hosts, scratch in
                try prepare(family, hosts)
                let program = try Built.program("PeerChat")
                let ann = try scratch.start(program, ["Ann"], on: hosts.near, input: .held)
                let bob = try scratch.start(program, ["Bob"], on: hosts.far, input: .held)
                try await eventually("Ann has Bob: \(ann.text) \(ann.errors)") { ann.text.contains("* Bob joined\n") }
                try await eventually("Bob has Ann: \(bob.text) \(bob.errors)") { bob.text.contains("* Ann joined\n") }
                try ann.write("hello\n")
                try await eventually("Bob reads: \(bob.text)") { bob.text.contains("Ann: hello\n") }
                try bob.write("and back\n")
                try await eventually("Ann reads: \(ann.text)") { ann.text.contains("Bob: and back\n") }
                try ann.endInput()
                try await eventually("Bob prints it: \(bob.text)") { bob.text.contains("* Ann left") }
                #expect(bob.text == "* Ann joined\nAnn: hello\n* Ann left: the peer left the session\n")
            }
        }
    }
}
