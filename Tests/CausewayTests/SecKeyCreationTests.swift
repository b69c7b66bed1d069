import Foundation
import Network
import Testing

@testable import Causeway

@Suite("Keys made at run time")
struct SecKeyCreationTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var type: CFString
        var bits: Int
        var testDescription: String { "\(type == kSecAttrKeyTypeRSA ? "RSA" : "EC") \(bits)" }

        var attributes: CFDictionary { [kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits] }

        func attributes(_ keyClass: CFString) -> CFDictionary {
            [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass]
        }
    }

    static let kinds = [
        Kind(type: kSecAttrKeyTypeRSA, bits: 1_024), Kind(type: kSecAttrKeyTypeRSA, bits: 2_048),
        Kind(type: kSecAttrKeyTypeECSECPrimeRandom, bits: 256), Kind(type: kSecAttrKeyTypeECSECPrimeRandom, bits: 384),
        Kind(type: kSecAttrKeyTypeECSECPrimeRandom, bits: 521),
    ]

    /// Calls a function with an error pointer, and returns the code of the error.
    static func code(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Bool) -> OSStatus? {
        var error: Unmanaged<CFError>?
        let isDone = body(&error)
        let code = error.map { OSStatus(CFErrorGetCode($0.takeRetainedValue())) }
        #expect(isDone == (code == nil))
        return code
    }

    private func refusal(_ attributes: CFDictionary) -> OSStatus? {
        Self.code { SecKeyCreateRandomKey(attributes, $0) != nil }
    }

    private func refusal(_ bytes: Data, _ attributes: CFDictionary) -> OSStatus? {
        Self.code { SecKeyCreateWithData(bytes as CFData, attributes, $0) != nil }
    }

    @Test("Both halves describe themselves, and are read back as equal keys", arguments: kinds)
    func pairs(_ kind: Kind) throws {
        let key = try #require(SecKeyCreateRandomKey(kind.attributes, nil))
        let other = try #require(SecKeyCopyPublicKey(key))
        #expect(key != other && SecKeyCopyPublicKey(other) == other)
        for (half, keyClass) in [(key, kSecAttrKeyClassPrivate), (other, kSecAttrKeyClassPublic)] {
            let attributes = try #require(SecKeyCopyAttributes(half))
            #expect(attributes[kSecAttrKeyType] as? String == kind.type)
            #expect(attributes[kSecAttrKeySizeInBits] as? Int == kind.bits)
            #expect(attributes[kSecAttrKeyClass] as? String == keyClass)
            #expect(SecKeyGetBlockSize(half) == (kind.bits + 7) / 8)
            let bytes = try #require(SecKeyCopyExternalRepresentation(half, nil))
            let read = try #require(SecKeyCreateWithData(bytes, kind.attributes(keyClass), nil))
            #expect(read == half && Set([read, half]).count == 1)
            #expect(SecKeyCopyExternalRepresentation(read, nil) == bytes)
            // The bytes of a public key are not a valid private key, and the other way round.
            let wrong = keyClass == kSecAttrKeyClassPublic ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic
            #expect(refusal(bytes, kind.attributes(wrong)) == errSecParam)
        }
        #expect(SecKeyCreateRandomKey(kind.attributes, nil) != key)
    }

    @Test("A key of an identity equals the same key without a certificate", arguments: kinds.suffix(4))
    func identities(_ kind: Kind) throws {
        let made = try SelfSigned(kind.type, kind.bits)
        let identity = try #require(SecIdentityCreate(nil, made.certificate, made.key))
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess && key === made.key)
        let bytes = try #require(SecKeyCopyExternalRepresentation(made.key, nil))
        let read = try #require(SecKeyCreateWithData(bytes, kind.attributes(kSecAttrKeyClassPrivate), nil))
        let wrapped = try #require(sec_identity_create(identity))
        let engine = SecIdentity(try wrapped.engineIdentity())
        #expect(Set([made.key, read, engine.privateKey]).count == 1)
        #expect(SecIdentityCreate(nil, made.certificate, read) == identity)
        #expect(engine == identity)
        #expect(SecKeyCopyPublicKey(made.key) == SecCertificateCopyKey(made.certificate))
    }

    @Test("An identity needs a private key that belongs to the certificate")
    func mismatch() throws {
        let made = try SelfSigned(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let other = try SelfSigned(kSecAttrKeyTypeECSECPrimeRandom, 256)
        #expect(SecIdentityCreate(kCFAllocatorDefault, made.certificate, other.key) == nil)
        let publicKey = try #require(SecKeyCopyPublicKey(made.key))
        #expect(SecIdentityCreate(nil, made.certificate, publicKey) == nil)
        #expect(SecIdentityCreate(nil, SecCertificate(data: Data([0x30, 0])), made.key) == nil)
    }

    @Test("The key of an identity can get another certificate, which TLS then uses")
    func renewal() throws {
        let made = try SelfSigned(kSecAttrKeyTypeECSECPrimeRandom, 256)
        let old = try #require(SecIdentityCreate(nil, made.certificate, made.key))
        let first = try #require(sec_identity_create(old))
        let engine = SecIdentity(try first.engineIdentity())
        let renewed = try SelfSigned(engine.privateKey, subject: "renewed").certificate
        let new = try #require(SecIdentityCreate(nil, renewed, engine.privateKey))
        let second = try #require(sec_identity_create(new))
        #expect(try second.engineIdentity().certificates.map { Data($0.der) } == [renewed.data])
    }

    @Test("Nothing is stored: attributes that ask for it are errors, in words")
    func storage() throws {
        let curve = Self.kinds[2].attributes
        func with(_ key: CFString, _ value: Any) -> CFDictionary { curve.merging([key: value]) { $1 } }
        #expect(refusal(with(kSecAttrIsPermanent, true)) == errSecUnimplemented)
        #expect(refusal(with(kSecAttrIsPermanent, NSNumber(value: true))) == errSecUnimplemented)
        #expect(refusal(with(kSecAttrTokenID, kSecAttrTokenIDSecureEnclave)) == errSecUnimplemented)
        for key in [kSecPrivateKeyAttrs, kSecPublicKeyAttrs] {
            #expect(refusal(with(key, [kSecAttrIsPermanent: true])) == errSecUnimplemented)
            #expect(refusal(with(key, [kSecAttrTokenID: "x"] as [String: Any])) == errSecUnimplemented)
            #expect(refusal(with(key, [kSecAttrIsPermanent: false, kSecAttrLabel: "l"] as [String: Any])) == nil)
            #expect(refusal(with(key, 7)) == errSecParam)
        }
        #expect(refusal(with(kSecAttrIsPermanent, false)) == nil)
        #expect(refusal(with(kSecAttrIsPermanent, NSNumber(value: false))) == nil)
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateRandomKey(with(kSecAttrIsPermanent, true), &error) == nil)
        let failure = try #require(error?.takeRetainedValue())
        #expect(CFErrorCopyDescription(failure).contains("no keychain"))
        #expect(CFErrorGetDomain(failure) == "NSOSStatusErrorDomain")
        #expect(((failure as any Error) as NSError).code == Int(errSecUnimplemented))
        let key = try #require(SecKeyCreateRandomKey(curve, nil))
        let bytes = try #require(SecKeyCopyExternalRepresentation(key, nil))
        var attributes = Self.kinds[2].attributes(kSecAttrKeyClassPrivate)
        attributes[kSecAttrIsPermanent] = true
        #expect(refusal(bytes, attributes) == errSecUnimplemented)
    }

    @Test("Missing and impossible attributes are errors; numbers may be objects or strings")
    func attributes() {
        let curve = kSecAttrKeyTypeECSECPrimeRandom
        #expect(refusal([:]) == errSecParam)
        #expect(refusal([kSecAttrKeyType: curve]) == errSecParam)
        #expect(refusal([kSecAttrKeySizeInBits: 256]) == errSecParam)
        #expect(refusal([kSecAttrKeyType: "1", kSecAttrKeySizeInBits: 256]) == errSecParam)
        #expect(refusal([kSecAttrKeyType: curve, kSecAttrKeySizeInBits: "many"]) == errSecParam)
        for bits in [-1, 0, 255, 512, Int.max] {
            #expect(refusal([kSecAttrKeyType: curve, kSecAttrKeySizeInBits: bits]) == errSecParam)
        }
        for bits in [Int.min, 0, 512, 1_023, 4_097, Int.max] {
            #expect(refusal([kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: bits]) == errSecParam)
        }
        #expect(refusal([kSecAttrKeyType: curve, kSecAttrKeySizeInBits: "384"]) == nil)
        #expect(refusal([kSecAttrKeyType: NSNumber(value: 73), kSecAttrKeySizeInBits: NSNumber(value: 256)]) == nil)
        #expect(SecKeyCreateRandomKey([:], nil) == nil)
    }

    @Test("Bytes that are no key are errors", arguments: kinds)
    func bytes(_ kind: Kind) throws {
        let key = try #require(SecKeyCreateRandomKey(kind.attributes, nil))
        let other = try #require(SecKeyCopyPublicKey(key))
        let whole = try #require(SecKeyCopyExternalRepresentation(other, nil))
        let attributes = kind.attributes(kSecAttrKeyClassPublic)
        for bytes in [Data(), whole.dropLast(), whole + [0], Data(repeating: 4, count: whole.count)] {
            #expect(refusal(bytes, attributes) == errSecParam)
        }
        // Test a slice, because its first index is not 0.
        #expect(refusal((Data([9]) + whole).dropFirst(), attributes) == nil)
        #expect(refusal(whole, [kSecAttrKeyType: kind.type]) == errSecParam)
        #expect(refusal(whole, [kSecAttrKeyType: kind.type, kSecAttrKeyClass: "7"]) == errSecParam)
        let isRSA = kind.type == kSecAttrKeyTypeRSA
        let wrong = isRSA ? kSecAttrKeyTypeECSECPrimeRandom : kSecAttrKeyTypeRSA
        #expect(refusal(whole, [kSecAttrKeyType: wrong, kSecAttrKeyClass: kSecAttrKeyClassPublic]) == errSecParam)
        guard !isRSA else { return }
        // Only one other point has the same x coordinate: the negative point. Its y coordinate differs in more than one
        // bit, so the changed bytes are not a valid point.
        var damaged = whole
        damaged[whole.count - 1] ^= 1
        #expect(refusal(damaged, attributes) == errSecParam)
        var compressed = whole.prefix(1 + (kind.bits + 7) / 8)
        compressed[0] = 2
        #expect(refusal(compressed, attributes) == errSecParam)
    }
}
