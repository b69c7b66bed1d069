internal import CausewayTLS

// PKCS #1 v1.5 (RFC 8017 §8.2).

extension SecKeyAlgorithm {
    /// RSA without padding. The input is as long as the modulus.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureRaw = SecKeyAlgorithm(SignatureScheme(.none))
    /// RSA with the padding of PKCS #1 v1.5. The input is a DigestInfo.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(SignatureScheme(.pkcs1))
    /// RSA with the padding of PKCS #1 v1.5. The input is a SHA-1 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha1))
    /// RSA with the padding of PKCS #1 v1.5. The input is a SHA-224 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha224))
    /// RSA with the padding of PKCS #1 v1.5. The input is a SHA-256 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha256))
    /// RSA with the padding of PKCS #1 v1.5. The input is a SHA-384 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha384))
    /// RSA with the padding of PKCS #1 v1.5. The input is a SHA-512 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha512))
    /// RSA with the padding of PKCS #1 v1.5 and SHA-1. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha1, hashesInput: true))
    /// RSA with the padding of PKCS #1 v1.5 and SHA-224. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha224, hashesInput: true))
    /// RSA with the padding of PKCS #1 v1.5 and SHA-256. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha256, hashesInput: true))
    /// RSA with the padding of PKCS #1 v1.5 and SHA-384. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha384, hashesInput: true))
    /// RSA with the padding of PKCS #1 v1.5 and SHA-512. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(
        SignatureScheme(.pkcs1, .sha512, hashesInput: true))
}

// PSS (RFC 8017 §8.1).

extension SecKeyAlgorithm {
    /// RSA with the padding PSS. The input is a SHA-1 digest.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha1))
    /// RSA with the padding PSS. The input is a SHA-224 digest.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha224))
    /// RSA with the padding PSS. The input is a SHA-256 digest.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha256))
    /// RSA with the padding PSS. The input is a SHA-384 digest.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha384))
    /// RSA with the padding PSS. The input is a SHA-512 digest.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha512))
    /// RSA with the padding PSS and SHA-1. The input is the message.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha1, hashesInput: true))
    /// RSA with the padding PSS and SHA-224. The input is the message.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha224, hashesInput: true))
    /// RSA with the padding PSS and SHA-256. The input is the message.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha256, hashesInput: true))
    /// RSA with the padding PSS and SHA-384. The input is the message.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha384, hashesInput: true))
    /// RSA with the padding PSS and SHA-512. The input is the message.
    ///
    /// Counterpart: macOS 10.13, iOS 11.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(
        SignatureScheme(.pss, .sha512, hashesInput: true))
}

// ECDSA (ANSI X9.62).

extension SecKeyAlgorithm {
    /// ECDSA with a signature in DER. The input is a digest of any length.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(SignatureScheme(.ecdsa))
    /// ECDSA with a signature in DER. The input is a SHA-1 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha1))
    /// ECDSA with a signature in DER. The input is a SHA-224 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha224))
    /// ECDSA with a signature in DER. The input is a SHA-256 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha256))
    /// ECDSA with a signature in DER. The input is a SHA-384 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha384))
    /// ECDSA with a signature in DER. The input is a SHA-512 digest.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha512))
    /// ECDSA with SHA-1 and a signature in DER. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha1, hashesInput: true))
    /// ECDSA with SHA-224 and a signature in DER. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha224, hashesInput: true))
    /// ECDSA with SHA-256 and a signature in DER. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha256, hashesInput: true))
    /// ECDSA with SHA-384 and a signature in DER. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha384, hashesInput: true))
    /// ECDSA with SHA-512 and a signature in DER. The input is the message.
    ///
    /// Counterpart: macOS 10.12, iOS 10.
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(
        SignatureScheme(.ecdsa, .sha512, hashesInput: true))
}
