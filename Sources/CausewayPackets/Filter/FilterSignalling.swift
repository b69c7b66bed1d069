/// Filter tests for Signalling System 7 over MTP2. They compare the type of a signal unit, and the fields of its
/// routing label.
///
/// The fields of the label follow each other without gaps. They start at the least significant bit of the label's first
/// byte.
extension FilterLayout {
    /// The offset to the signal unit's length byte; `nil` for link types other than MTP2.
    private var signalAt: Int? {
        switch linkType {
        case .mtp2: 2
        case .mtp2Header: 6
        default: nil
        }
    }

    /// The signal unit length indicator (ITU-T Q.703 §2.3.3): zero for fill-in units, one or two for link status units,
    /// more for message units.
    private struct LengthIndicator {
        var mask: UInt32
        /// The largest length indicator in a link status unit.
        var linkStatus: UInt32

        static let short = LengthIndicator(mask: 0x3F, linkStatus: 2)
        /// The length indicator for signal units with 12-bit sequence numbers. The mask and the largest value are in
        /// the header's byte order.
        static let long = LengthIndicator(mask: 0xFF80, linkStatus: 0x100)
    }

    /// The largest field values (ITU-T Q.704 §2.2).
    private enum Maximum {
        static let serviceInformation: UInt32 = 0xFF
        static let pointCode: UInt32 = 0x3FFF
        static let linkSelection: UInt32 = 0x0F
    }

    /// Returns a test for fill-in, link status or message units, with 7-bit or 12-bit sequence numbers.
    func signalUnit(_ name: String) -> FilterNode? {
        guard let at = signalAt else { return nil }
        let isLong = name.hasPrefix("h")
        let load = isLong ? FilterLoad(size: 2, offset: at + 2) : FilterLoad(size: 1, offset: at)
        let length = isLong ? LengthIndicator.long : .short
        let isMessage = FilterNode.test(load, mask: length.mask, .greater, length.linkStatus)
        let isEmpty = FilterNode.equal(load, 0, mask: length.mask)
        switch isLong ? String(name.dropFirst()) : name {
        case "fisu": return isEmpty
        case "lssu", "lsu": return .all([.not(isEmpty), .not(isMessage)])
        default: return isMessage
        }
    }

    /// Returns the field with a name, and the largest value that the field can have. Returns `nil` if there is no such
    /// field.
    func signalField(_ name: String) -> (FilterExpression, limit: UInt32)? {
        guard let at = signalAt else { return nil }
        let isLong = name.hasPrefix("h")
        let service = at + (isLong ? 4 : 1)
        func byte(_ offset: Int, _ mask: UInt32) -> FilterExpression {
            .binary(.byte(service + offset), .and, .number(mask))
        }
        func joined(_ parts: [(FilterExpression, FilterOperator, UInt32)]) -> FilterExpression {
            let shifted = parts.map { FilterExpression.binary($0.0, $0.1, .number($0.2)) }
            return shifted.dropFirst().reduce(shifted[0]) { .binary($0, .or, $1) }
        }
        switch isLong ? String(name.dropFirst()) : name {
        case "sio": return (.byte(service), Maximum.serviceInformation)
        case "dpc": return (joined([(byte(1, 0xFF), .left, 0), (byte(2, 0x3F), .left, 8)]), Maximum.pointCode)
        case "opc":
            return (
                joined([(byte(2, 0xC0), .right, 6), (byte(3, 0xFF), .left, 2), (byte(4, 0x0F), .left, 10)]),
                Maximum.pointCode
            )
        default: return (joined([(byte(4, 0xF0), .right, 4)]), Maximum.linkSelection)
        }
    }
}
