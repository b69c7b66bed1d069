import CausewayProtocols
import CausewayTestKit
import Testing

@Suite("Receive queue against a model")
struct ReceiveQueuePropertyTests {
    /// A simple reference implementation of the receive queue. It keeps bytes and message ends in one list.
    struct Model {
        enum Token: Equatable { case byte(UInt8), endOfMessage }

        var tokens: [Token] = []
        var demands: [ReceiveQueue.Demand] = []
        var hasEnded = false
        var endWasTold = false

        mutating func arrived(_ bytes: [UInt8], endsMessage: Bool) {
            guard !hasEnded else { return }
            tokens += bytes.map { .byte($0) }
            if endsMessage { tokens.append(.endOfMessage) }
        }

        /// Returns the expected result of the oldest receive call, and the bytes that belong to it.
        mutating func next() -> (ReceiveQueue.Outcome, [UInt8])? {
            guard let demand = demands.first else { return nil }
            if tokens.isEmpty, hasEnded, endWasTold {
                demands.removeFirst()
                return (.nothingMore, [])
            }
            let boundary = tokens.firstIndex(of: .endOfMessage)
            let available = boundary ?? tokens.count
            let isWhole = boundary != nil || hasEnded
            let take: Int
            switch demand {
            case .message: take = available
            case .bytes(_, let maximum): take = min(available, maximum)
            }
            let isAnswered =
                switch demand {
                case .message: isWhole
                case .bytes(let minimum, _): isWhole || available >= minimum
                }
            guard isAnswered else { return nil }
            demands.removeFirst()
            let bytes = tokens.prefix(take).compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
            tokens.removeFirst(take)
            let endsMessage = isWhole && take == available
            if endsMessage, boundary != nil { tokens.removeFirst() }
            let endsStream = endsMessage && boundary == nil
            if endsStream { endWasTold = true }
            return (.content(count: take, endsMessage: endsMessage, endsStream: endsStream), bytes)
        }

        var byteCount: Int { tokens.count { $0 != .endOfMessage } }
    }

    /// A receive queue, its buffer, and the model with which the queue is compared.
    struct Pair {
        var queue = ReceiveQueue()
        var model = Model()
        var buffer: [UInt8] = []
        var random: SplitMix64
        let hasMessages: Bool
        var given: [UInt8] = []
        var arrived: [UInt8] = []
        /// The number of calls that received content.
        var answerCount = 0

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            hasMessages = random.chance(oneIn: 2)
        }

        mutating func step() {
            switch random.integer(in: 0...15) {
            case 0...4: arrive()
            case 5...9: demand()
            case 10, 11:
                queue.demandMessage()
                model.demands.append(.message)
            case 12 where !model.demands.isEmpty:
                let position = random.integer(in: 0...(model.demands.count - 1))
                #expect(queue.forgetDemand(at: position) == true)
                model.demands.remove(at: position)
            case 13 where random.chance(oneIn: 4):
                #expect(queue.abandon() == model.demands.count)
                model.demands = []
            case 14 where random.chance(oneIn: 8):
                queue.ended()
                model.hasEnded = true
            default: drain()
            }
        }

        private mutating func arrive() {
            let bytes = random.bytes(random.integer(in: 0...40))
            let endsMessage = hasMessages && random.chance(oneIn: 3)
            if !endsMessage, random.chance(oneIn: 2), pass(bytes) { return }
            queue.arrived(bytes.count, endsMessage: endsMessage)
            if !model.hasEnded {
                buffer += bytes
                arrived += bytes
            }
            model.arrived(bytes, endsMessage: endsMessage)
        }

        /// Passes bytes directly to the oldest receive call, without buffering them. Checks the result against the
        /// model.
        private mutating func pass(_ bytes: [UInt8]) -> Bool {
            guard queue.passes(bytes.count) else { return false }
            #expect(buffer.isEmpty)
            model.arrived(bytes, endsMessage: false)
            let expected = model.next()
            #expect(expected?.0 == .content(count: bytes.count, endsMessage: false, endsStream: false))
            #expect(expected?.1 == bytes)
            arrived += bytes
            given += bytes
            answerCount += 1
            return true
        }

        private mutating func demand() {
            let minimum = random.chance(oneIn: 10) ? random.integer(in: -2...0) : random.integer(in: 1...50)
            let maximum = random.chance(oneIn: 10) ? .max : random.integer(in: 0...60)
            queue.demand(minimum: minimum, maximum: maximum)
            model.demands.append(.bytes(minimum: max(1, min(minimum, maximum)), maximum: max(1, maximum)))
        }

        mutating func drain() {
            repeat {
                let outcome = queue.next()
                let expected = model.next()
                #expect(outcome == expected?.0)
                guard case .content(let count, _, _) = outcome else {
                    guard outcome == nil else { continue }
                    break
                }
                guard count <= buffer.count else {
                    Issue.record("gave \(count) bytes of \(buffer.count)")
                    break
                }
                #expect(Array(buffer.prefix(count)) == expected?.1)
                given += buffer.prefix(count)
                answerCount += 1
                buffer.removeFirst(count)
            } while true
            check()
        }

        func check() {
            #expect(queue.buffered == buffer.count && buffer.count == model.byteCount)
            #expect(given + buffer == arrived)
            #expect(queue.hasDemand == !model.demands.isEmpty)
            #expect(queue.oldest == model.demands.first)
            #expect(queue.wanted >= 0)
        }
    }

    @Test("Every result equals the model's, without lost or repeated bytes", arguments: 0..<20 as Range<UInt64>)
    func agreesWithModel(_ block: UInt64) {
        var answerCount = 0
        for seed in (block * 50)..<(block * 50 + 50) {
            var pair = Pair(seed: seed)
            for _ in 0..<150 { pair.step() }
            pair.queue.ended()
            pair.model.hasEnded = true
            pair.drain()
            #expect(pair.given + pair.buffer == pair.arrived)
            answerCount += pair.answerCount
        }
        // Check that enough calls were completed. Otherwise a queue and a model that complete nothing would pass this
        // test. The seeds are fixed, so each block of 50 seeds completes at least 479 calls.
        #expect(answerCount >= 400)
    }
}
