import Causeway
import CausewayPeers
import Foundation
import Synchronization
import Testing

/// The error that a test throws when it gets an unexpected event.
private struct TestFailure: Error {
    let what: String
}

extension Loopback {
    @Suite("Peer sessions")
    struct PeerSessionTests {
        private func pair() async throws -> (PeerSession, PeerSession) {
            let nodes = try ["Ann", "Bob"].map { PeerNode(try LocalPeer(named: $0), queueLimit: 4 << 20) }
            for (node, other) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] {
                let number = await withCheckedContinuation { done in other.whenListening { done.resume(returning: $0) }
                }
                let port = try #require(NWEndpoint.Port(rawValue: number))
                node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: other.local.peer)
            }
            var options = PeerSession.Options()
            options.browses = false
            return (PeerSession(nodes[0], "cw-test", 8, options), PeerSession(nodes[1], "cw-test", 8, options))
        }

        /// Accepts invitations, and passes all other events to the test.
        private func follow(_ session: PeerSession) -> (Task<Void, any Error>, Mailbox<PeerEvent>) {
            let mailbox = Mailbox<PeerEvent>()
            let events = session.events
            let task = Task {
                for try await event in events {
                    if case .invited(let invite) = event { invite.accept() } else { mailbox.put(event) }
                }
            }
            return (task, mailbox)
        }

        @Test("Invite, send in order, and leave")
        func life() async throws {
            let (ann, bob) = try await pair()
            let (following, events) = follow(bob)
            try await ann.invite(bob.me, context: Data("hi".utf8))
            #expect(ann.peers == [bob.me])
            try await ann.invite(bob.me)
            for number in 0..<50 { try await ann.send(Data([UInt8(number)])) }
            guard case .joined(ann.me) = try await events.next() else { throw TestFailure(what: "joined") }
            for number in 0..<50 {
                guard case .received(let data, from: ann.me) = try await events.next() else {
                    throw TestFailure(what: "a message")
                }
                #expect(data == Data([UInt8(number)]))
            }
            ann.leave()
            guard case .left(ann.me, let failure) = try await events.next() else { throw TestFailure(what: "left") }
            #expect(failure == PeerFailure(.left))
            await #expect(throws: PeerFailure(.notConnected)) {
                try await bob.send(Data(), to: .peer(ann.me))
            }
            following.cancel()
            try await following.value
        }

        @Test("A declined invitation throws, and a cancelled one ends the wait")
        func declined() async throws {
            let (ann, bob) = try await pair()
            let events = bob.events
            let declining = Task {
                for try await event in events {
                    if case .invited(let invite) = event {
                        invite.decline()
                        return
                    }
                }
            }
            await #expect(throws: PeerFailure(.declined)) { try await ann.invite(bob.me) }
            try await declining.value
            let inviting = Task { try await ann.invite(bob.me) }
            inviting.cancel()
            await #expect(throws: CancellationError.self) { try await inviting.value }
        }

        @Test(
            "A sender is suspended while the receiver takes no events, and goes on when it does; then nothing is missing"
        )
        func backPressure() async throws {
            let (ann, bob) = try await pair()
            let events = bob.events
            let (joined, taking) = (Mailbox<Bool>(), Mailbox<Bool>())
            let block = Data(repeating: 7, count: 256 << 10)
            let count = 96
            let receiving = Task {
                var received = 0
                for try await event in events {
                    switch event {
                    case .invited(let invite): invite.accept()
                    case .joined:
                        joined.put(true)
                        _ = try await taking.next()
                    case .received(let data, _):
                        #expect(data.count == block.count)
                        received += 1
                        if received == count { return }
                    default: break
                    }
                }
            }
            try await ann.invite(bob.me)
            _ = try await joined.next()
            let sent = Mutex(0)
            let suspensions = Mailbox<Int>()
            ann.group.onSuspendedSend { suspensions.put(sent.withLock { $0 }) }
            let sending = Task {
                for _ in 0..<count {
                    try await ann.send(block)
                    sent.withLock { $0 += 1 }
                }
            }
            // The sender can queue 4 MiB, and the receiver can hold 4 MiB. So the session accepts only 8 MiB of the 24
            // MiB.
            let blocks = (8 << 20) / block.count
            let accepted = try await suspensions.first { $0 >= blocks - 1 }
            #expect(accepted <= blocks + 1)
            taking.put(true)
            try await sending.value
            try await receiving.value
        }

        @Test("Of the values with one key that wait for a receiver, only the newest arrives")
        func latest() async throws {
            let (ann, bob) = try await pair()
            let events = bob.events
            let (joined, taking) = (Mailbox<Bool>(), Mailbox<Bool>())
            let block = Data(repeating: 7, count: 256 << 10)
            let receiving = Task {
                var values: [[UInt8]] = []
                for try await event in events {
                    switch event {
                    case .invited(let invite): invite.accept()
                    case .joined:
                        joined.put(true)
                        _ = try await taking.next()
                    case .received(let data, _) where data.count < block.count:
                        values.append([UInt8](data))
                        if data.isEmpty { return values }
                    default: break
                    }
                }
                return values
            }
            try await ann.invite(bob.me)
            _ = try await joined.next()
            // The receiver's window of 4 MiB takes all blocks except the last. The last block waits, and so delays all
            // later messages.
            for _ in 0...(4 << 20) / block.count { try await ann.send(block) }
            for number in UInt8(0)..<100 {
                try await ann.send(Data([1, number]), as: .latest(key: "x"))
                if number % 10 == 0 { try await ann.send(Data([2, number]), as: .latest(key: "y")) }
            }
            try await ann.send(Data())
            taking.put(true)
            #expect(try await receiving.value == [[1, 99], [2, 90], []])
        }

        @Test("A stream and a file arrive, with progress, and users who see the same code are verified")
        func transfers() async throws {
            let (ann, bob) = try await pair()
            let (following, events) = follow(bob)
            try await ann.invite(bob.me)
            let writer = try ann.open("log", to: bob.me)
            async let writing: Void = {
                for number in 0..<40 { try await writer.write(Data(repeating: UInt8(number), count: 30_000)) }
                writer.finish()
            }()
            let opened = try await events.first { if case .stream = $0 { true } else { false } }
            guard case .stream(let reader, ann.me) = opened else { return }
            var received = Data()
            for try await part in reader { received.append(part) }
            try await writing
            #expect(reader.name == "log" && received.count == 1_200_000 && received.last == 39)

            let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: url) }
            try Data(repeating: 5, count: 3_000_000).write(to: url)
            var last = 0.0
            for try await part in ann.send(file: url, named: "notes", to: bob.me) { last = part.fraction }
            #expect(last > 0)
            let arrived = try await events.first { if case .file = $0 { true } else { false } }
            guard case .file(let file, _) = arrived else { return }
            #expect(try file.name == "notes" && Data(contentsOf: file.url).count == 3_000_000)

            let digits = Mailbox<String>()
            async let verified: Void = ann.verify(bob.me) { code in
                digits.put(code.digits)
                return true
            }
            let compare = try await events.first { if case .compare = $0 { true } else { false } }
            guard case .compare(let code, _) = compare else { return }
            #expect(try await digits.next() == code.digits)
            code.confirm(true)
            try await verified
            following.cancel()
            try await following.value
        }
    }
}
