/// Methods that are fast in common cases: two sections are equal, or a section does not contain a rare field name.
extension FieldSection {
    /// Returns whether both sections have the same bytes and therefore the same encoding. If one section is a copy of
    /// the other, the comparison takes only a few nanoseconds.
    package func isIdentical(to other: FieldSection) -> Bool { entries == other.entries && block == other.block }

    /// If `bytes` begins with the response head from which this section was decoded, returns that head's byte count;
    /// otherwise `nil`.
    ///
    /// - Precondition: The section was decoded from a response head and is unchanged.
    package func decodedCount(ifStartOf bytes: borrowing Span<UInt8>) -> Int? {
        let own = block.span
        let count = own.count
        guard count > 0, bytes.count >= count else { return nil }
        // The unsafe loads are valid: all bytes in both spans are initialized, and the loop conditions keep the loads
        // inside both spans.
        let (one, other) = unsafe (own.bytes, bytes.bytes)
        var offset = 0
        while offset + 8 <= count {
            let (mine, theirs) = unsafe (
                one.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self),
                other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard mine == theirs else { return nil }
            offset += 8
        }
        while offset < count {
            guard own[offset] == bytes[offset] else { return nil }
            offset += 1
        }
        return count
    }

    /// Returns whether the section has a field name of one of the given lengths.
    ///
    /// `lengths` is a bit set: bit N stands for a name of N bytes. Names of 64 or more bytes are ignored.
    package func hasName(withLengths lengths: UInt64) -> Bool {
        for entry in entries where entry.nameCount < 64 && lengths & (1 << UInt64(entry.nameCount)) != 0 { return true }
        return false
    }

    /// Removes all field lines whose names satisfy a condition.
    package mutating func removeAll(where isUnwanted: (FieldSection, Int) -> Bool) {
        var kept: [Entry] = []
        kept.reserveCapacity(entries.count)
        var removed = 0
        for (index, entry) in entries.enumerated() {
            if isUnwanted(self, index) {
                removed += Int(entry.nameCount) + Int(entry.valueCount)
            } else {
                kept.append(entry)
            }
        }
        replaceEntries(kept, removed: removed)
    }
}
