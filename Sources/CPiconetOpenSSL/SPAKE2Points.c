// The points of SPAKE2 (RFC 9382, section 3.3) over P-256. Its cofactor is 1: every point on the curve except the
// identity is in the group.
#include "CPiconetOpenSSL.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/obj_mac.h>
#include <string.h>

// RFC 9382, section 4: M masks A's share, N masks B's. Nobody knows their discrete logarithms.
static const unsigned char mask_of_a[] = {
    0x02, 0x88, 0x6e, 0x2f, 0x97, 0xac, 0xe4, 0x6e, 0x55, 0xba, 0x9d, 0xd7, 0x24, 0x25, 0x79, 0xf2, 0x99,
    0x3b, 0x64, 0xe1, 0x6e, 0xf3, 0xdc, 0xab, 0x95, 0xaf, 0xd4, 0x97, 0x33, 0x3d, 0x8f, 0xa1, 0x2f,
};
static const unsigned char mask_of_b[] = {
    0x03, 0xd8, 0xbb, 0xd6, 0xc6, 0x39, 0xc6, 0x29, 0x37, 0xb0, 0x4d, 0x99, 0x7f, 0x38, 0xc3, 0x77, 0x07,
    0x19, 0xc6, 0x29, 0xd7, 0x01, 0x4d, 0x49, 0xa2, 0x4b, 0x4f, 0x98, 0xba, 0xa1, 0x29, 0x2b, 0x49,
};

// The values of one computation; all of them are erased when it is freed.
struct arithmetic {
  EC_GROUP *group;
  BN_CTX *context;
  BIGNUM *password;
  BIGNUM *secret;
  EC_POINT *mask;
  EC_POINT *result;
};

static void end_arithmetic(struct arithmetic *a) {
  EC_POINT_clear_free(a->result);
  EC_POINT_clear_free(a->mask);
  BN_clear_free(a->secret);
  BN_clear_free(a->password);
  BN_CTX_free(a->context);
  EC_GROUP_free(a->group);
}

static BIGNUM *secret_number(const unsigned char *bytes, size_t count) {
  BIGNUM *number = BN_secure_new();
  if (!number) return NULL;
  BN_set_flags(number, BN_FLG_CONSTTIME);
  if (BN_bin2bn(bytes, (int)count, number)) return number;
  BN_clear_free(number);
  return NULL;
}

// `mask` becomes the password times M or N. Products are made one by one: with a single factor EC_POINT_mul runs in
// constant time.
static int begin_arithmetic(
    struct arithmetic *a, int masks_a, const unsigned char *password, const unsigned char *secret) {
  memset(a, 0, sizeof *a);
  a->group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  a->context = BN_CTX_secure_new();
  a->password = secret_number(password, PICONET_SPAKE2_SCALAR);
  a->secret = secret_number(secret, PICONET_SPAKE2_SCALAR);
  if (!a->group || !a->context || !a->password || !a->secret) return 0;
  a->mask = EC_POINT_new(a->group);
  a->result = EC_POINT_new(a->group);
  if (!a->mask || !a->result) return 0;
  return EC_POINT_oct2point(a->group, a->mask, masks_a ? mask_of_a : mask_of_b, sizeof mask_of_a, a->context) &&
         EC_POINT_mul(a->group, a->mask, NULL, a->mask, a->password, a->context);
}

// The identity would be one byte.
static int put_point(struct arithmetic *a, unsigned char *point) {
  return EC_POINT_point2oct(
             a->group, a->result, POINT_CONVERSION_UNCOMPRESSED, point, PICONET_SPAKE2_POINT, a->context) ==
         PICONET_SPAKE2_POINT;
}

int piconet_spake2_share(
    int is_a, const unsigned char *password, const unsigned char *secret, unsigned char *share) {
  struct arithmetic a;
  int done = begin_arithmetic(&a, is_a, password, secret) &&
             EC_POINT_mul(a.group, a.result, a.secret, NULL, NULL, a.context) &&
             EC_POINT_add(a.group, a.result, a.result, a.mask, a.context) && put_point(&a, share);
  end_arithmetic(&a);
  return done;
}

int piconet_spake2_group_element(
    int is_a, const unsigned char *password, const unsigned char *secret, const unsigned char *far_share,
    unsigned char *element) {
  // Only the uncompressed form is legal, and the identity has no such encoding.
  if (far_share[0] != POINT_CONVERSION_UNCOMPRESSED) return PICONET_SPAKE2_BAD_SHARE;
  struct arithmetic a;
  int result = 0;
  if (begin_arithmetic(&a, !is_a, password, secret)) {
    if (!EC_POINT_oct2point(a.group, a.result, far_share, PICONET_SPAKE2_POINT, a.context)) {
      // Coordinates outside the field, or a point that is not on the curve.
      result = PICONET_SPAKE2_BAD_SHARE;
    } else if (
        EC_POINT_invert(a.group, a.mask, a.context) &&
        EC_POINT_add(a.group, a.result, a.result, a.mask, a.context)) {
      if (EC_POINT_is_at_infinity(a.group, a.result)) {
        // The share is nothing but the mask.
        result = PICONET_SPAKE2_BAD_SHARE;
      } else {
        result = EC_POINT_mul(a.group, a.result, NULL, a.result, a.secret, a.context) && put_point(&a, element);
      }
    }
  }
  end_arithmetic(&a);
  if (result == PICONET_SPAKE2_BAD_SHARE) ERR_clear_error();
  return result;
}

static EC_GROUP *group_and_order(const BIGNUM **order) {
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  *order = group ? EC_GROUP_get0_order(group) : NULL;
  return group;
}

int piconet_spake2_reduce(const unsigned char *wide, size_t count, unsigned char *scalar) {
  const BIGNUM *order;
  EC_GROUP *group = group_and_order(&order);
  BN_CTX *context = BN_CTX_secure_new();
  BIGNUM *number = secret_number(wide, count);
  BIGNUM *rest = BN_secure_new();
  int done = order && context && number && rest && BN_nnmod(rest, number, order, context) &&
             BN_bn2binpad(rest, scalar, PICONET_SPAKE2_SCALAR) == PICONET_SPAKE2_SCALAR;
  BN_clear_free(rest);
  BN_clear_free(number);
  BN_CTX_free(context);
  EC_GROUP_free(group);
  return done;
}

int piconet_spake2_random(unsigned char *scalar) {
  const BIGNUM *order;
  EC_GROUP *group = group_and_order(&order);
  BIGNUM *number = BN_secure_new();
  int done = order && number;
  // A scalar of 0 would give the password away.
  do {
    done = done && BN_priv_rand_range(number, order);
  } while (done && BN_is_zero(number));
  done = done && BN_bn2binpad(number, scalar, PICONET_SPAKE2_SCALAR) == PICONET_SPAKE2_SCALAR;
  BN_clear_free(number);
  EC_GROUP_free(group);
  return done;
}
