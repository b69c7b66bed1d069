internal import CausewayTLS

extension Exercise {
    /// Parses bytes as a key in one of the forms that programs store.
    ///
    /// Checks that a parsed key is written as the same bytes. Also checks that a public key verifies what its private
    /// key signs. Does nothing if the TLS library is missing.
    ///
    /// - Returns: Whether the bytes are a key.
    @discardableResult
    public static func keys(_ bytes: [UInt8]) -> Bool {
        var choices = Choices(bytes)
        let form = Int(choices.next() % 8)
        var content = form < 4 ? choices.rest : madeKeys[form % 4]
        while form >= 4, !choices.isEmpty, !content.isEmpty {
            let place = (Int(choices.next()) << 8 | Int(choices.next())) % content.count
            content[place] = choices.next()
        }
        switch form % 4 {
        case 0: return signs(.ecdsa, try? PrivateKey(x963: content), content)
        case 1: return signs(.pkcs1, try? PrivateKey(rsa: content), content)
        case 2: return isKept(PublicKeyInfo.encode(rsa: content))
        default: return isKept(PublicKeyInfo.encode(point: content, curve: .p256))
        }
    }

    /// One key in each supported encoding.
    private static let madeKeys: [[UInt8]] = {
        guard let curve = try? PrivateKey(generating: .p256), let point = PublicKeyInfo(curve.publicKeyInfo),
            let rsa = try? PrivateKey(generatingRSA: 1_024), let number = PublicKeyInfo(rsa.publicKeyInfo)
        else { return [[], [], [], []] }
        return [point.bare(privateKey: curve.der) ?? [], rsa.der, number.bytes, point.bytes]
    }()

    private static func signs(_ padding: SignatureScheme.Padding, _ key: PrivateKey?, _ content: [UInt8]) -> Bool {
        guard let key, let info = PublicKeyInfo(key.publicKeyInfo) else { return false }
        precondition(info.bare(privateKey: key.der) == content, "the key is written differently than it was read")
        let scheme = SignatureScheme(padding, .sha256, hashesInput: true)
        guard let other = try? PublicKey(exactly: key.publicKeyInfo), let signature = try? scheme.sign([1, 2], key)
        else {
            preconditionFailure("a key that was read has no other half, or does not sign")
        }
        precondition(scheme.verify([1, 2], signature, other), "the signature of a key that was read does not match")
        return true
    }

    private static func isKept(_ der: [UInt8]) -> Bool {
        guard let key = try? PublicKey(exactly: der) else { return false }
        precondition(key.publicKeyInfo == der, "the key is written differently than it was read")
        _ = SignatureScheme(.pkcs1).verify([1], [UInt8](repeating: 1, count: 128), key)
        return true
    }
}
