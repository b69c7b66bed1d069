extension URIReference {
    /// Resolves this reference against a base (RFC 3986 §5.2.2). The result does not get the base's fragment.
    package func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil || authority != nil {
            target.scheme = scheme ?? base.scheme
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = Self.removingDotSegments(path)
        } else {
            target.path = Self.removingDotSegments(merged(with: base))
        }
        return target
    }

    /// Replaces the final segment of the base's path with this path (RFC 3986 §5.2.3).
    private func merged(with base: URIReference) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(base.path[...slash]) + path
    }

    /// Removes the segments `.` and `..` from a path (RFC 3986 §5.2.4).
    static func removingDotSegments(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        var output: [Substring.UTF8View] = []
        var segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if isAbsolute { segments.removeFirst() }
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual(".".utf8) {
                if isLast { output.append(Substring().utf8) }
            } else if segment.elementsEqual("..".utf8) {
                if !output.isEmpty { output.removeLast() }
                if isLast { output.append(Substring().utf8) }
            } else {
                output.append(segment)
            }
        }
        let joined = output.map { String(Substring($0)) }.joined(separator: "/")
        return isAbsolute ? "/" + joined : joined
    }
}
