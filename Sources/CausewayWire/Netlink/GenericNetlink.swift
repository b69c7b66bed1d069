/// A request to a generic netlink family. At run time the kernel assigns a number to each family name.
package struct GenericNetlinkRequest: Hashable, Sendable {
    /// The family's number, from ``familyNumber(of:)``.
    package var family: UInt16
    package var command: UInt8
    package var version: UInt8
    /// Whether to list all objects (`NLM_F_DUMP`).
    package var isListing: Bool
    package var attributes: [UInt8]

    init(family: UInt16, command: UInt8, version: UInt8 = 1, isListing: Bool = false, attributes: [UInt8] = []) {
        self.family = family
        self.command = command
        self.version = version
        self.isListing = isListing
        self.attributes = attributes
    }

    /// Creates a request for the number of the family `name`. The request goes to the control family (`GENL_ID_CTRL`),
    /// with the command `CTRL_CMD_GETFAMILY`.
    package static func familyNumber(of name: String) -> GenericNetlinkRequest {
        var attributes: [UInt8] = []
        attributes.append(attribute: 2, Array(name.utf8) + [0])  // CTRL_ATTR_FAMILY_NAME
        return GenericNetlinkRequest(family: NetlinkType.firstOfFamilies, command: 3, attributes: attributes)
    }
}

/// A message from a generic netlink family.
package struct GenericNetlinkMessage: Equatable, Sendable {
    package var family: UInt16
    package var command: UInt8
    package var attributes: [NetlinkAttribute]

    init(parsing body: inout ByteReader, family: UInt16) throws(WireError) {
        self.family = family
        command = try body.readHostInteger()
        try body.skip(3)  // the version and two reserved bytes
        attributes = try NetlinkAttribute.list(&body)
    }

    /// The family number in a reply to ``GenericNetlinkRequest/familyNumber(of:)``; `nil` in other messages.
    package var familyNumber: UInt16? {
        guard family == NetlinkType.firstOfFamilies else { return nil }
        return attributes.first { $0.type == 1 }?.integer()  // CTRL_ATTR_FAMILY_ID
    }
}

/// A message attribute. Its value is not decoded.
package struct NetlinkAttribute: Hashable, Sendable {
    package var type: UInt16
    package var value: [UInt8]

    static func list(_ body: inout ByteReader) throws(WireError) -> [NetlinkAttribute] {
        var found: [NetlinkAttribute] = []
        try body.readAttributes { (type, value) throws(WireError) in
            found.append(NetlinkAttribute(type: type, value: try value.readBytes(value.remaining)))
        }
        return found
    }

    /// Returns the value as an integer in host byte order; `nil` if the value has too few bytes.
    func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type = T.self) -> T? {
        var reader = ByteReader(value.span)
        return try? reader.readHostInteger()
    }

    /// The nested attributes in the value; empty if the value is not an attribute list.
    var nested: [NetlinkAttribute] {
        var reader = ByteReader(value.span)
        return (try? Self.list(&reader)) ?? []
    }

    func address(_ family: InternetAddress.Family) -> InternetAddress? {
        var reader = ByteReader(value.span)
        return try? InternetAddress(parsing: &reader, family: family)
    }
}
