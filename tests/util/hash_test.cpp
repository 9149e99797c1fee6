#include "edgewise/util/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace edgewise {
namespace {

// The examples of the standard (FIPS 180-4).
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheInputIsCut) {
  const std::string text(1000, 'x');
  for (const std::size_t cut : {1U, 55U, 56U, 63U, 64U, 65U, 999U}) {
    Sha256 hash;
    hash.update(std::string_view(text).substr(0, cut));
    hash.update(std::string_view(text).substr(cut));
    EXPECT_EQ(hash.finish(), sha256Hex(text)) << cut;
  }
}

TEST(GitBlobId, EqualsGitsOwn) {
  EXPECT_EQ(gitBlobId(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(gitBlobId("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(Fingerprint, TellsNeighbouringFieldsApart) {
  EXPECT_NE(Fingerprint().add("ab").add("c").hex(), Fingerprint().add("a").add("bc").hex());
  const std::vector<float> one = {1.0F};
  const std::vector<float> none;
  EXPECT_NE(Fingerprint().add(std::span<const float>(one)).add(std::span<const float>(none)).hex(),
            Fingerprint().add(std::span<const float>(none)).add(std::span<const float>(one)).hex());
}

}  // namespace
}  // namespace edgewise
