/// The references between the objects of a binary property list.
struct BinaryPropertyListShape {
    /// The depth and the number of values below an object, itself included.
    private struct Extent {
        var depth = 1
        var valueCount = 1
    }

    /// An object whose references are being followed.
    private struct Visit {
        let object: Int
        /// The bytes of the references that were not followed yet.
        var references: Range<Int>
        var extent = Extent()

        /// Adds the object to which the next reference refers. Returns whether the result is within the limits.
        mutating func add(_ below: Extent, _ referenceSize: Int) -> Bool {
            references = (references.lowerBound + referenceSize)..<references.upperBound
            extent.depth = max(extent.depth, below.depth + 1)
            extent.valueCount += below.valueCount
            return extent.depth <= PropertyListBounds.depth && extent.valueCount <= PropertyListBounds.valueCount
        }
    }

    private static let headerByteCount = 8
    private static let trailerByteCount = 32
    /// The kinds of objects with references, in the upper half of the first byte.
    private static let array: UInt8 = 0xA
    private static let set: UInt8 = 0xC
    private static let dictionary: UInt8 = 0xD
    private static let integer: UInt8 = 1

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let top: Int
    /// The position of the table with the position of each object.
    private let table: Int

    /// Reads the trailer. Returns `nil` for a malformed list.
    init?(_ bytes: [UInt8]) {
        let trailer = bytes.count - Self.trailerByteCount
        guard trailer > Self.headerByteCount else { return nil }
        let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let objectCount = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8)
        else { return nil }
        guard objectCount <= bytes.count, top < objectCount, table > Self.headerByteCount, table < trailer,
            objectCount * offsetSize <= trailer - table
        else { return nil }
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = objectCount
        self.top = top
        self.table = table
    }

    /// Whether the list is within ``PropertyListBounds``. Follows each reference a few times at most.
    var isBounded: Bool {
        guard let first = visit(to: top) else { return false }
        var known: [Int: Extent] = [:]
        var open: Set<Int> = [first.object]
        var path = [first]
        // Objects can overlap, so that a few bytes contain very many references.
        var budget = 8 * bytes.count
        while var last = path.popLast() {
            budget -= 1
            guard budget > 0 else { return false }
            guard !last.references.isEmpty else {
                known[last.object] = last.extent
                open.remove(last.object)
                continue
            }
            guard let next = visit(to: Self.number(bytes, last.references.lowerBound, referenceSize)) else {
                return false
            }
            if let extent = known[next.object] {
                guard last.add(extent, referenceSize) else { return false }
                path.append(last)
            } else {
                guard open.insert(next.object).inserted, path.count + 2 <= PropertyListBounds.depth else {
                    return false
                }
                path += [last, next]
            }
        }
        return true
    }

    /// Begins to follow the references of an object; `nil` if the object does not exist or is malformed.
    private func visit(to number: Int?) -> Visit? {
        guard let number, number < objectCount,
            let object = Self.number(bytes, table + number * offsetSize, offsetSize), object < table
        else { return nil }
        let (kind, low) = (bytes[object] >> 4, Int(bytes[object] & 0xF))
        guard [Self.array, Self.set, Self.dictionary].contains(kind) else {
            return Visit(object: object, references: object..<object)
        }
        var (start, count) = (object + 1, low)
        if low == 0xF {
            guard start < table, bytes[start] >> 4 == Self.integer, bytes[start] & 0xF <= 3 else { return nil }
            let size = 1 << Int(bytes[start] & 0xF)
            guard start + 1 + size <= table, let long = Self.number(bytes, start + 1, size), long <= bytes.count else {
                return nil
            }
            (start, count) = (start + 1 + size, long)
        }
        // A dictionary has its keys before its values.
        let byteCount = count * (kind == Self.dictionary ? 2 : 1) * referenceSize
        guard byteCount <= table - start else { return nil }
        return Visit(object: object, references: start..<start + byteCount)
    }

    /// Reads a big-endian number; `nil` if it is larger than any position.
    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        Int(exactly: bytes[start..<start + size].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
}
