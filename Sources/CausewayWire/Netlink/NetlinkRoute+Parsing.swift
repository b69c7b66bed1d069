extension NetlinkRoute {
    /// Parses `struct rtmsg` and the attributes after it.
    ///
    /// - Returns: `nil` for families other than IPv4 and IPv6, for example multicast routing tables.
    init?(parsing body: inout ByteReader) throws(WireError) {
        let start = body.position
        let family = InternetAddress.Family(rawValue: try body.readHostInteger())
        let prefixLength: UInt8 = try body.readHostInteger()
        let sourceLength: UInt8 = try body.readHostInteger()
        let typeOfService: UInt8 = try body.readHostInteger()
        let table: UInt8 = try body.readHostInteger()
        let origin: UInt8 = try body.readHostInteger()
        let scope: UInt8 = try body.readHostInteger()
        let kind: UInt8 = try body.readHostInteger()
        let flags: UInt32 = try body.readHostInteger()
        guard family.bitWidth > 0 else { return nil }
        guard Int(prefixLength) <= family.bitWidth else { throw .invalid("prefix length", at: start + 1) }
        guard Int(sourceLength) <= family.bitWidth else { throw .invalid("source prefix length", at: start + 2) }

        self.init(
            family: family, prefixLength: Int(prefixLength), table: UInt32(table), kind: Kind(rawValue: kind),
            origin: origin, scope: NetlinkAddress.Scope(rawValue: scope), flags: Flags(rawValue: flags))
        selector.typeOfService = typeOfService
        // Outside a multipath list, a route has one next hop. The lowest byte of the route's flags contains the flags
        // of this next hop.
        var single = NextHop(flags: HopFlags(rawValue: UInt8(truncatingIfNeeded: flags)))
        try body.readAttributes { (type, value) throws(WireError) in
            if try !single.adopt(attribute: type, &value, family: family) {
                try adopt(attribute: type, &value, sourceLength: Int(sourceLength))
            }
        }
        if single.gateway != nil || single.interfaceIndex != nil { nextHops.insert(single, at: 0) }
    }

    /// Stores one `RTA_` attribute (numbers: linux/rtnetlink.h).
    private mutating func adopt(
        attribute type: UInt16, _ value: inout ByteReader, sourceLength: Int
    ) throws(WireError) {
        switch type {
        case 1:
            let address = try InternetAddress(parsing: &value, family: family)
            destination.address = address ?? NetlinkPrefix.all(family).address
        case 2:
            let address = try InternetAddress(parsing: &value, family: family)
            selector.source = address.map { NetlinkPrefix($0, length: sourceLength) }
        case 6: metric.priority = try value.readHostInteger()
        case 7: preferredSource = try InternetAddress(parsing: &value, family: family)
        case 8: try adoptMetrics(&value)
        case 9: try adoptHops(&value)
        // This attribute contains the full table number; the header field can hold only numbers below 256.
        case 15: table = try value.readHostInteger()
        case 20: metric.preference = Preference(rawValue: try value.readHostInteger()) ?? .medium
        default: break
        }
    }

    private mutating func adoptMetrics(_ list: inout ByteReader) throws(WireError) {
        var found: UInt32?
        try list.readAttributes { (type, value) throws(WireError) in
            if type == 2 { found = try value.readHostInteger() }  // RTAX_MTU
        }
        if let found { mtu = Int(found) }
    }

    /// Parses a multipath route's `struct rtnexthop` list.
    private mutating func adoptHops(_ list: inout ByteReader) throws(WireError) {
        while !list.isAtEnd {
            let start = list.position
            let length: UInt16 = try list.readHostInteger()
            guard length >= 8 else { throw .invalid("next hop length", at: start) }
            var hop = try list.readScope(Int(length) - 2)
            list.align(to: 4)
            let flags: UInt8 = try hop.readHostInteger()
            let extraWeight: UInt8 = try hop.readHostInteger()
            let index: Int32 = try hop.readHostInteger()
            var result = NextHop(
                interfaceIndex: index > 0 ? Int(index) : nil, weight: Int(extraWeight) + 1,
                flags: HopFlags(rawValue: flags))
            try hop.readAttributes { (type, value) throws(WireError) in
                _ = try result.adopt(attribute: type, &value, family: family)
            }
            nextHops.append(result)
        }
    }
}

extension NetlinkRoute.NextHop {
    /// Stores an `RTA_` attribute if it describes a next hop.
    ///
    /// - Returns: Whether the attribute describes a next hop.
    fileprivate mutating func adopt(
        attribute type: UInt16, _ value: inout ByteReader, family: InternetAddress.Family
    ) throws(WireError) -> Bool {
        switch type {
        case 4:
            let index: Int32 = try value.readHostInteger()
            interfaceIndex = index > 0 ? Int(index) : nil
        case 5: gateway = try InternetAddress(parsing: &value, family: family)
        // A gateway whose address family may differ from the route's family (for RFC 8950 routes). The attribute's
        // value begins with the gateway's family.
        case 18:
            let viaFamily: UInt16 = try value.readHostInteger()
            guard let known = UInt8(exactly: viaFamily) else { return true }
            gateway = try InternetAddress(parsing: &value, family: InternetAddress.Family(rawValue: known))
        default: return false
        }
        return true
    }
}
