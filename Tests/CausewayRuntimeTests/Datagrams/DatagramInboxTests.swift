@testable import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import FoundationEssentials
import Testing

extension Runtime {
    @Suite("Datagram inbox and batch")
    struct DatagramInboxTests {
        typealias Train = DatagramBatch.Train

        /// Returns several datagrams in one block. Each datagram's bytes have the datagram's number as their value.
        static func train(_ count: Int, of segment: Int, last: Int? = nil, first: UInt8 = 0, trafficClass: UInt8? = nil)
            -> Train
        {
            var bytes: [UInt8] = []
            for index in 0..<count {
                bytes += Array(repeating: first &+ UInt8(index), count: index == count - 1 ? last ?? segment : segment)
            }
            var mark = PacketMark()
            mark.trafficClass = trafficClass
            return Train(bytes: Data(bytes), segment: segment, mark: mark)
        }

        static func drain(_ inbox: inout DatagramInbox, maximum: Int = .max) -> [(bytes: [UInt8], isWhole: Bool)] {
            var all: [(bytes: [UInt8], isWhole: Bool)] = []
            while let (data, _, isWhole) = inbox.next(maximum: maximum) {
                #expect(data.startIndex == 0, "data starts at index zero")
                all.append((Array(data), isWhole))
            }
            return all
        }

        struct TrainRow {
            var count: Int
            var segment: Int
            var last: Int
        }

        static let rows = [
            TrainRow(count: 1, segment: 5, last: 5), TrainRow(count: 1, segment: 0, last: 0),
            TrainRow(count: 3, segment: 4, last: 4), TrainRow(count: 3, segment: 4, last: 1),
            TrainRow(count: 44, segment: 1_472, last: 100), TrainRow(count: 2, segment: 1, last: 1),
        ]

        @Test("A train is split into its datagrams", arguments: rows)
        func trains(_ row: TrainRow) {
            let train = Self.train(row.count, of: row.segment, last: row.last)
            var inbox = DatagramInbox()
            #expect(inbox.append(train) == true)
            #expect(inbox.datagramCount == row.count && inbox.byteCount == train.bytes.count)
            let datagrams = Self.drain(&inbox)
            #expect(datagrams.map(\.bytes.count) == Array(repeating: row.segment, count: row.count - 1) + [row.last])
            #expect(
                datagrams.enumerated().allSatisfy { index, datagram in datagram.bytes.allSatisfy { Int($0) == index } })
            #expect(datagrams.allSatisfy { $0.isWhole })
            #expect(inbox.isEmpty && inbox.byteCount == 0 && inbox.datagramCount == 0)

            var batch = DatagramBatch()
            batch.append(train)
            #expect(batch.count == row.count && batch.map { Array($0) } == datagrams.map(\.bytes))
            #expect(Array(batch.byteCounts) == datagrams.map(\.bytes.count) && batch.byteCount == train.bytes.count)
        }

        @Test("A datagram longer than the maximum is returned in parts, and only the last is complete")
        func partial() {
            var inbox = DatagramInbox()
            _ = inbox.append(Self.train(2, of: 10, last: 4))
            let pieces = Self.drain(&inbox, maximum: 4)
            #expect(pieces.map(\.bytes.count) == [4, 4, 2, 4] && pieces.map(\.isWhole) == [false, false, true, true])
            #expect(pieces.flatMap(\.bytes) == Array(repeating: 0, count: 10) + Array(repeating: 1, count: 4))
        }

        @Test("A maximum below one counts as one byte", arguments: [0, -5])
        func tinyMaximum(_ maximum: Int) {
            var inbox = DatagramInbox()
            _ = inbox.append(Self.train(1, of: 2))
            #expect(Self.drain(&inbox, maximum: maximum).map(\.bytes.count) == [1, 1])
        }

        @Test("The number of bytes is limited: datagrams above it are dropped, earlier ones stay")
        func byteBound() {
            var inbox = DatagramInbox()
            let train = Self.train(40, of: 1_000)
            var accepted = 0
            while inbox.append(train) { accepted += 1 }
            #expect(accepted == DatagramInbox.byteLimit / 40_000 && inbox.byteCount == accepted * 40_000)
            for _ in 0..<40 { _ = inbox.next(maximum: .max) }
            #expect(inbox.append(train) == true)
            #expect(inbox.append(train) == false)
            #expect(Self.drain(&inbox).count == accepted * 40)
        }

        @Test("The number of datagrams is limited, including empty ones")
        func countBound() {
            var inbox = DatagramInbox()
            var accepted = 0
            while inbox.append(Self.train(1, of: 0)) { accepted += 1 }
            #expect(accepted == DatagramInbox.datagramLimit)
            #expect(Self.drain(&inbox).count == accepted && inbox.isEmpty)
        }

        @Test("Above its mark the inbox is held, until the program has taken half of the mark")
        func hold() {
            var inbox = DatagramInbox()
            let mark = DatagramInbox.Mark(byteCount: 80, datagramCount: 100)
            for first in 0..<8 as Range<UInt8> { _ = inbox.append(Self.train(1, of: 10, first: first)) }
            #expect(Self.holds(&inbox, mark) == [false, false, false])
            _ = inbox.append(Self.train(1, of: 1))
            #expect(Self.holds(&inbox, mark) == [true, true, false])
            for _ in 0..<4 { _ = inbox.next(maximum: .max) }
            let isReleasedAbove = inbox.releaseHold()
            #expect(inbox.byteCount == 41 && !isReleasedAbove, "more than half is left")
            _ = inbox.next(maximum: .max)
            let releases = [inbox.releaseHold(), inbox.releaseHold()]
            #expect(releases == [true, false], "at most half is left, and a hold ends once")
        }

        /// Returns three results: whether the inbox is above a mark, whether a hold begins, and whether a hold ends.
        static func holds(_ inbox: inout DatagramInbox, _ mark: DatagramInbox.Mark) -> [Bool] {
            [inbox.isAbove(mark), inbox.hold(above: mark), inbox.releaseHold()]
        }

        @Test("The mark counts datagrams too, and a batch ends the hold")
        func holdOfMany() {
            var inbox = DatagramInbox()
            let mark = DatagramInbox.Mark(byteCount: 1_000, datagramCount: 4)
            _ = inbox.append(Self.train(5, of: 1))
            #expect(Self.holds(&inbox, mark) == [true, true, false])
            #expect(inbox.takeAll()?.count == 5)
            let isReleased = inbox.releaseHold()
            #expect(isReleased)
        }

        @Test("Below the marks, one call of the reader finds room", arguments: [DatagramInbox.Mark.far, .close, .near])
        func roomAboveMark(_ mark: DatagramInbox.Mark) {
            let (bytes, count) = (16 * 65_536, 16 * 128)
            #expect(mark.byteCount > 0 && mark.byteCount + bytes <= DatagramInbox.byteLimit)
            #expect(mark.datagramCount > 0 && mark.datagramCount + count <= DatagramInbox.datagramLimit)
            #expect(DatagramInbox.byteLimit == 8 << 20)
        }

        @Test("A batch takes all datagrams, except one that is partly delivered")
        func takeAll() {
            var inbox = DatagramInbox()
            #expect(inbox.takeAll() == nil)
            _ = inbox.append(Self.train(3, of: 4))
            _ = inbox.append(Self.train(2, of: 2, first: 50))
            #expect(inbox.next(maximum: 1)?.isWhole == false)
            let batch = inbox.takeAll()
            #expect(batch?.map { Array($0) } == [[1, 1, 1, 1], [2, 2, 2, 2], [50, 50], [51, 51]])
            #expect(inbox.isEmpty && inbox.byteCount == 0 && inbox.datagramCount == 0 && inbox.takeAll() == nil)
        }

        @Test("A batch is empty if the only datagram is partly delivered")
        func takeAllAfterBeginning() {
            var inbox = DatagramInbox()
            _ = inbox.append(Self.train(1, of: 4))
            _ = inbox.next(maximum: 1)
            #expect(inbox.takeAll() == nil)
            #expect(inbox.isEmpty && inbox.datagramCount == 0 && inbox.byteCount == 0)
        }

        @Test("The kernel's metadata stay with their datagrams")
        func info() {
            var inbox = DatagramInbox()
            _ = inbox.append(Self.train(2, of: 4, trafficClass: 3))
            _ = inbox.append(Self.train(1, of: 4))
            #expect(inbox.next(maximum: 2)?.1.trafficClass == 3)
            #expect(inbox.next(maximum: 9)?.1.trafficClass == 3)
            #expect(inbox.next(maximum: 9)?.1.trafficClass == 3)
            #expect(inbox.next(maximum: 9)?.1 == PacketMark())
        }

        @Test("Equals a list of datagrams", arguments: 0..<100 as Range<UInt64>)
        func agreesWithModel(_ seed: UInt64) {
            var random = SplitMix64(seed: seed)
            var inbox = DatagramInbox()
            var model: [[UInt8]] = []
            var isBegun = false
            for _ in 0..<200 {
                switch random.integer(in: 0...9) {
                case 0...3:
                    let segment = random.integer(in: 1...30)
                    let bytes = random.bytes(random.integer(in: 0...200))
                    let train = Train(bytes: Data(bytes), segment: bytes.isEmpty ? 0 : segment, mark: PacketMark())
                    #expect(inbox.append(train) == true)
                    model +=
                        bytes.isEmpty
                        ? [[]]
                        : stride(from: 0, to: bytes.count, by: segment).map { Array(bytes[$0...].prefix(segment)) }
                case 4...8:
                    let maximum = random.integer(in: 1...40)
                    let next = inbox.next(maximum: maximum)
                    guard let head = model.first else {
                        #expect(next == nil)
                        continue
                    }
                    let piece = Array(head.prefix(maximum))
                    isBegun = piece.count < head.count
                    if isBegun { model[0].removeFirst(piece.count) } else { model.removeFirst() }
                    #expect(next.map { Array($0.0) } == piece && next?.isWhole == !isBegun)
                default:
                    if isBegun { model.removeFirst() }
                    isBegun = false
                    let batch = inbox.takeAll()
                    #expect(batch.map { $0.map { Array($0) } } == (model.isEmpty ? nil : model))
                    model = []
                }
                #expect(inbox.datagramCount == model.count && inbox.isEmpty == model.isEmpty)
            }
        }

        @Test("A batch of many trains contains each datagram at its position")
        func positions() {
            var random = SplitMix64(seed: 4)
            var batch = DatagramBatch()
            var model: [[UInt8]] = []
            for number in 0..<60 {
                let count = random.integer(in: 1...5)
                let train = Self.train(count, of: 3, last: random.integer(in: 1...3), first: UInt8(number))
                batch.append(train)
                var inbox = DatagramInbox()
                _ = inbox.append(train)
                model += Self.drain(&inbox).map(\.bytes)
            }
            #expect(batch.count == model.count)
            for position in model.indices.shuffled() { #expect(Array(batch[position]) == model[position]) }
            #expect(Array(batch.byteCounts) == model.map(\.count))
        }
    }
}
