import Causeway
import CausewayRuntime
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Datagrams")
    struct DatagramTests {
        @Test("Each send is one datagram, and each receive returns one datagram", arguments: Medium.datagrams)
        func oneByOne(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let sizes = [1, 2, 1_000, 0, 1_472, 9_000, 3]
                for size in sizes { try await pair.client.deliver(.pattern(size)) }
                for size in sizes {
                    let answer = try await pair.server.receiveMessage()
                    #expect((answer.data ?? Data()) == .pattern(size))
                    #expect(answer.isComplete && !answer.isFinal && answer.error == nil && answer.context != nil)
                }
                try await pair.server.deliver(Data("back"))
                let back = try await pair.client.receive(1, 100)
                #expect(back.text == "back" && back.isComplete && !back.isFinal)
            }
        }

        @Test(
            "A send without content sends nothing; empty content sends an empty datagram", arguments: Medium.datagrams)
        func emptyDatagram(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.client.deliver(nil)
                try await pair.client.deliver(Data())
                try await pair.client.deliver(Data("after"))
                let empty = try await pair.server.receiveMessage()
                #expect((empty.data ?? Data()).isEmpty && empty.isComplete && !empty.isFinal && empty.error == nil)
                #expect(try await pair.server.receiveMessage().text == "after")
            }
        }

        @Test(
            "A datagram longer than the maximum is received in parts, and only the last is complete",
            arguments: Medium.datagrams)
        func inPieces(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.client.deliver(Data("abcdefgh"))
                try await pair.client.deliver(Data("next"))
                let expected = [("abc", false), ("def", false), ("gh", true), ("nex", false), ("t", true)]
                for (text, isComplete) in expected {
                    let answer = try await pair.server.receive(1, 3)
                    #expect(answer.text == text && answer.isComplete == isComplete)
                }
            }
        }

        @Test("A minimum longer than the datagram does not join datagrams")
        func minimumIsNoJoin() async throws {
            try await Pair.with(.udp4) { pair in
                try await pair.client.deliver(Data("one"))
                try await pair.client.deliver(Data("two"))
                #expect(try await pair.server.receive(100, 1_000).text == "one")
                #expect(try await pair.server.receive(100, 1_000).text == "two")
            }
        }

        @Test(
            "A send longer than a datagram fails with EMSGSIZE, and the connection remains usable",
            arguments: Medium.datagrams)
        func tooLong(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let most = pair.client.connection.maximumDatagramSize
                #expect(most >= 60_000)
                #expect(try await pair.client.send(Data(count: 66_000)).next() == .posix(.EMSGSIZE))
                #expect(pair.client.connection.state == .ready)
                try await pair.client.deliver(.pattern(most))
                #expect(try await pair.server.receiveMessage().data == .pattern(most))
            }
        }

        @Test("The parts of one message are sent as one datagram")
        func parts() async throws {
            try await Pair.with(.udp4) { pair in
                let context = NWConnection.ContentContext(identifier: "parts")
                try await pair.client.deliver(Data("a"), context, isComplete: false)
                try await pair.client.deliver(Data("b"), context, isComplete: false)
                try await pair.client.deliver(Data("c"), context)
                #expect(try await pair.server.receiveMessage().text == "abc")
            }
        }

        @Test("A batch of any sizes arrives in order", arguments: Medium.datagrams)
        func batch(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                // Together, these datagrams fit into the smallest default receive buffer.
                let sizes = (0..<100).map { $0 % 7 == 0 ? 0 : $0 % 50 < 40 ? 700 : 100 + $0 }
                let outcomes = Mailbox<NWError?>()
                let answers = Mailbox<Received>()
                for _ in sizes { pair.server.requestMessage(into: answers) }
                pair.client.connection.batch {
                    for (index, size) in sizes.enumerated() {
                        pair.client.send(.pattern(size, from: index), into: outcomes)
                    }
                }
                for (index, size) in sizes.enumerated() {
                    let data = try await answers.next().data ?? Data()
                    #expect(data == .pattern(size, from: index))
                }
                #expect(try await outcomes.next(sizes.count).allSatisfy { $0 == nil })
            }
        }

        @Test("In a batch, only an oversized datagram fails")
        func tooLongInBatch() async throws {
            try await Pair.with(.udp4) { pair in
                let outcomes = Mailbox<NWError?>()
                pair.client.connection.batch {
                    for size in [10, 10, 66_000, 10, 10] { pair.client.send(Data(count: size), into: outcomes) }
                }
                try await outcomes.expect(nil, nil, .posix(.EMSGSIZE), nil, nil)
                for _ in 0..<4 { #expect(try await pair.server.receiveMessage().data?.count == 10) }
            }
        }

        @Test("receiveBatch() returns all datagrams that have arrived")
        func receiveBatch() async throws {
            try await Pair.with(.udp4) { pair in
                let batches = Mailbox<DatagramBatch>()
                pair.client.connection.batch {
                    for index in 0..<50 { pair.client.send(.pattern(500, from: index)) }
                }
                var found: [Data] = []
                while found.count < 50 {
                    pair.server.connection.receiveBatch { batch, error in
                        if let batch { batches.put(batch) } else { Issue.record("\(String(describing: error))") }
                    }
                    found += try await batches.next()
                }
                #expect(found == (0..<50).map { .pattern(500, from: $0) })
            }
        }

        @Test("The traffic class and ECN of a datagram reach the peer", arguments: Medium.datagrams)
        func marks(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let rows: [(NWProtocolIP.ECN, NWParameters.ServiceClass)] = [
                    (.ect0, .bestEffort), (.ect1, .background), (.ce, .interactiveVoice), (.nonECT, .signaling),
                    (.nonECT, .bestEffort),
                ]
                for (ecn, serviceClass) in rows {
                    let metadata = NWProtocolIP.Metadata()
                    metadata.ecn = ecn
                    metadata.serviceClass = serviceClass
                    let context = NWConnection.ContentContext(identifier: "marked", metadata: [metadata])
                    try await pair.client.deliver(Data("x"), context)
                    let received = try await pair.server.receiveMessage()
                    let ip =
                        received.context?.protocolMetadata(definition: NWProtocolIP.definition)
                        as? NWProtocolIP.Metadata
                    #expect(ip?.ecn == ecn && ip?.serviceClass == serviceClass)
                    #expect(
                        received.context?.protocolMetadata(definition: NWProtocolUDP.definition)
                            is NWProtocolUDP.Metadata)
                    // The server replies over the socket that all of its peers share.
                    try await pair.server.deliver(Data("y"), context)
                    let back = try await pair.client.receiveMessage().context
                    let answer = back?.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
                    #expect(answer?.ecn == ecn && answer?.serviceClass == serviceClass)
                }
            }
        }

        @Test("The service class of a connection applies to each of its datagrams", arguments: Medium.datagrams)
        func connectionClass(medium: Medium) async throws {
            try await Pair.with(medium, client: { $0.serviceClass = .interactiveVideo }) { pair in
                try await pair.client.deliver(Data("x"))
                let context = try await pair.server.receiveMessage().context
                let ip = context?.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
                #expect(ip?.serviceClass == .interactiveVideo && ip?.ecn == .nonECT)
            }
        }

        @Test("The time of arrival is measured on request", arguments: Medium.datagrams)
        func receiveTime(medium: Medium) async throws {
            func ask(_ parameters: NWParameters) {
                let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
                ip?.shouldCalculateReceiveTime = true
            }
            try await Pair.with(medium, server: ask) { pair in
                try await pair.client.deliver(Data("x"))
                try await pair.client.deliver(Data("y"))
                var times: [UInt64] = []
                for _ in 0..<2 {
                    let context = try await pair.server.receiveMessage().context
                    let ip = context?.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
                    times.append(try #require(ip).receiveTime)
                }
                #expect(times[0] > 0 && times[1] >= times[0])
            }
            try await Pair.with(medium) { pair in
                try await pair.client.deliver(Data("x"))
                let context = try await pair.server.receiveMessage().context
                let ip = context?.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
                #expect(ip?.receiveTime == 0)
            }
        }
    }
}
